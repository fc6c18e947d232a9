module hookbox.dev/examples/rate-limit-go

go 1.24

require github.com/hookbox/hookbox/sdk-guest/go v0.1.0

replace github.com/hookbox/hookbox/sdk-guest/go => ../../sdk-guest/go
