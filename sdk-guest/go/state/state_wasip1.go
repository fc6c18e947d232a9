package state

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/hookbox/hookbox/sdk-guest/go/internal/abi"
)

//go:wasmimport hookbox:hooks/state@0.2.0 get
func hostGet(key uintptr, keyLength uint32, result unsafe.Pointer)

//go:wasmimport hookbox:hooks/state@0.2.0 set
func hostSet(key uintptr, keyLength uint32, value uintptr, valueLength uint32, hasTTL uint32, ttl uint64, result unsafe.Pointer)

//go:wasmimport hookbox:hooks/state@0.2.0 delete
func hostDelete(key uintptr, keyLength uint32, result unsafe.Pointer)

//go:wasmimport hookbox:hooks/state@0.2.0 increment
func hostIncrement(key uintptr, keyLength uint32, by int64, hasTTL uint32, ttl uint64, result unsafe.Pointer)

//go:wasmimport hookbox:hooks/state@0.2.0 compare-and-swap
func hostCompareAndSwap(key uintptr, keyLength uint32, hasExpected uint32, expected uintptr, expectedLength uint32, value uintptr, valueLength uint32, hasTTL uint32, ttl uint64, result unsafe.Pointer)

//go:wasmimport hookbox:hooks/state@0.2.0 keys
func hostKeys(prefix uintptr, prefixLength uint32, result unsafe.Pointer)

func get(key string) (value string, ok bool, err error) {
	abi.Import(func(pins *runtime.Pinner, result unsafe.Pointer) {
		p, length := abi.Lower(pins, key)
		hostGet(p, length, result)
	}, func(result abi.Memory) {
		if err = failure(result, 4); err == nil {
			ok, value = result.Bool(4), result.OptionString(4)
		}
	})
	return value, ok, err
}

func set(key, value string, ttl *uint64) (err error) {
	abi.Import(func(pins *runtime.Pinner, result unsafe.Pointer) {
		k, keyLength := abi.Lower(pins, key)
		v, valueLength := abi.Lower(pins, value)
		has, ttl := option(ttl)
		hostSet(k, keyLength, v, valueLength, has, ttl, result)
	}, func(result abi.Memory) { err = failure(result, 4) })
	return err
}

func remove(key string) (was bool, err error) {
	abi.Import(func(pins *runtime.Pinner, result unsafe.Pointer) {
		p, length := abi.Lower(pins, key)
		hostDelete(p, length, result)
	}, func(result abi.Memory) {
		if err = failure(result, 4); err == nil {
			was = result.Bool(4)
		}
	})
	return was, err
}

func increment(key string, by int64, ttl *uint64) (sum int64, err error) {
	abi.Import(func(pins *runtime.Pinner, result unsafe.Pointer) {
		p, length := abi.Lower(pins, key)
		has, ttl := option(ttl)
		hostIncrement(p, length, by, has, ttl, result)
	}, func(result abi.Memory) {
		if err = failure(result, 8); err == nil {
			sum = int64(result.Uint64(8))
		}
	})
	return sum, err
}

func compareAndSwap(key string, expected *string, value string, ttl *uint64) (was bool, err error) {
	abi.Import(func(pins *runtime.Pinner, result unsafe.Pointer) {
		k, keyLength := abi.Lower(pins, key)
		v, valueLength := abi.Lower(pins, value)
		var hasExpected, expectedLength uint32
		var e uintptr
		if expected != nil {
			hasExpected = 1
			e, expectedLength = abi.Lower(pins, *expected)
		}
		has, ttl := option(ttl)
		hostCompareAndSwap(k, keyLength, hasExpected, e, expectedLength, v, valueLength, has, ttl, result)
	}, func(result abi.Memory) {
		if err = failure(result, 4); err == nil {
			was = result.Bool(4)
		}
	})
	return was, err
}

func keys(prefix string) (keys []string, err error) {
	abi.Import(func(pins *runtime.Pinner, result unsafe.Pointer) {
		p, length := abi.Lower(pins, prefix)
		hostKeys(p, length, result)
	}, func(result abi.Memory) {
		if err = failure(result, 4); err == nil {
			keys = result.Strings(4)
		}
	})
	return keys, err
}

func option(number *uint64) (has uint32, value uint64) {
	if number == nil {
		return 0, 0
	}
	return 1, *number
}

// failure returns the error in a result whose payload begins at payload, or nil.
func failure(result abi.Memory, payload uintptr) error {
	if !result.Bool(0) {
		return nil
	}
	switch result.Byte(payload) {
	case 0:
		return fmt.Errorf("%w: %s", ErrQuota, result.String(payload+4))
	case 1:
		return ErrNotANumber
	default:
		return fmt.Errorf("%w: %s", ErrUnavailable, result.String(payload+4))
	}
}
