module github.com/hookbox/hookbox/sdk-guest/go

go 1.24
