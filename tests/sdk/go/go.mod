module hookbox.dev/tests/sdk

go 1.24

require github.com/hookbox/hookbox/sdk-guest/go v0.1.0

replace github.com/hookbox/hookbox/sdk-guest/go => ../../../sdk-guest/go
