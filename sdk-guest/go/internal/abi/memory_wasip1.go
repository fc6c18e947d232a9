package abi

import (
	"runtime"
	"unsafe"
)

// Pins for memory that the host wrote (arguments, results of imports) and memory that it will read (the result of an
// export). Such memory must not move or be freed until both sides have used it.
var argumentPins, resultPins runtime.Pinner

// The host may request memory before Go's runtime has started. That memory comes from here.
var (
	ready      bool
	early      [4 << 10]byte
	earlyTaken uintptr
)

func init() { ready = true }

//go:wasmexport cabi_realloc
func realloc(old unsafe.Pointer, oldSize, align, size uintptr) unsafe.Pointer {
	if size == 0 {
		return unsafe.Pointer(align)
	}
	if !ready {
		base := uintptr(unsafe.Pointer(&early))
		p := (base + earlyTaken + align - 1) &^ (align - 1)
		if p+size > base+uintptr(len(early)) {
			return nil
		}
		earlyTaken = p + size - base
		return unsafe.Add(unsafe.Pointer(&early), p-base)
	}
	// A component may not call the host inside cabi_realloc, but a garbage collection reads the clock.
	pauseClock(1)
	p := allocate(&argumentPins, size)
	if old != nil && oldSize > 0 {
		copy(unsafe.Slice((*byte)(p), size), unsafe.Slice((*byte)(old), min(oldSize, size)))
	}
	pauseClock(0)
	return p
}

//go:wasmimport wasi_snapshot_preview1 hookbox_pause_clock
func pauseClock(paused int32)

// allocate returns memory aligned to 8 bytes, the largest alignment in the canonical ABI.
func allocate(pins *runtime.Pinner, size uintptr) unsafe.Pointer {
	p := unsafe.Pointer(unsafe.SliceData(make([]uint64, (size+7)/8)))
	pins.Pin(p)
	return p
}

// Memory is a value in the layout of the canonical ABI.
type Memory struct{ base unsafe.Pointer }

// Arguments returns the arguments of an export's call.
func Arguments(p unsafe.Pointer) Memory { return Memory{p} }

// ArgumentsRead unpins the arguments. Strings read from them stay valid.
func ArgumentsRead() { argumentPins.Unpin() }

// NewMemory allocates the result of an export. It stays pinned until ResultRead.
func NewMemory(size uintptr) Memory { return Memory{allocate(&resultPins, size)} }

// ResultRead unpins a result.
func ResultRead() { resultPins.Unpin() }

// Pointer returns the address.
func (m Memory) Pointer() unsafe.Pointer { return m.base }

// At returns the memory at this offset in bytes.
func (m Memory) At(at uintptr) Memory { return Memory{unsafe.Add(m.base, at)} }

// Byte reads a discriminant or an enum.
func (m Memory) Byte(at uintptr) uint8 { return *(*uint8)(unsafe.Add(m.base, at)) }

// Bool reads a bool.
func (m Memory) Bool(at uintptr) bool { return m.Byte(at) != 0 }

// Uint16 reads a u16.
func (m Memory) Uint16(at uintptr) uint16 { return *(*uint16)(unsafe.Add(m.base, at)) }

// Uint32 reads a u32.
func (m Memory) Uint32(at uintptr) uint32 { return *(*uint32)(unsafe.Add(m.base, at)) }

// Uint64 reads a u64.
func (m Memory) Uint64(at uintptr) uint64 { return *(*uint64)(unsafe.Add(m.base, at)) }

// Bytes reads a list<u8> without copying it.
func (m Memory) Bytes(at uintptr) []byte {
	length := m.Uint32(at + 4)
	if length == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(uintptr(m.Uint32(at)))), length)
}

// String reads a string.
func (m Memory) String(at uintptr) string {
	bytes := m.Bytes(at)
	return unsafe.String(unsafe.SliceData(bytes), len(bytes))
}

// Strings reads a list<string>.
func (m Memory) Strings(at uintptr) []string {
	list := make([]string, m.Uint32(at+4))
	items := Memory{unsafe.Pointer(uintptr(m.Uint32(at)))}
	for i := range list {
		list[i] = items.String(uintptr(i) * 8)
	}
	return list
}

// Pairs reads a list<tuple<string, string>>.
func (m Memory) Pairs(at uintptr) [][2]string {
	list := make([][2]string, m.Uint32(at+4))
	items := Memory{unsafe.Pointer(uintptr(m.Uint32(at)))}
	for i := range list {
		list[i] = [2]string{items.String(uintptr(i) * 16), items.String(uintptr(i)*16 + 8)}
	}
	return list
}

// OptionString reads an option<string>. A missing value becomes "".
func (m Memory) OptionString(at uintptr) string {
	if !m.Bool(at) {
		return ""
	}
	return m.String(at + 4)
}

// OptionBool reads an option<bool>. A missing value becomes false.
func (m Memory) OptionBool(at uintptr) bool { return m.Bool(at) && m.Bool(at+1) }

// OptionUint32 reads an option<u32>.
func (m Memory) OptionUint32(at uintptr) *uint32 {
	if !m.Bool(at) {
		return nil
	}
	number := m.Uint32(at + 4)
	return &number
}

// OptionUint64 reads an option<u64>.
func (m Memory) OptionUint64(at uintptr) *uint64 {
	if !m.Bool(at) {
		return nil
	}
	number := m.Uint64(at + 8)
	return &number
}

// PutByte writes a discriminant or an enum.
func (m Memory) PutByte(at uintptr, value uint8) { *(*uint8)(unsafe.Add(m.base, at)) = value }

// PutBool writes a bool.
func (m Memory) PutBool(at uintptr, value bool) {
	if value {
		m.PutByte(at, 1)
	} else {
		m.PutByte(at, 0)
	}
}

func (m Memory) putUint32(at uintptr, value uint32) { *(*uint32)(unsafe.Add(m.base, at)) = value }

// PutString writes a string. It stays pinned until ResultRead.
func (m Memory) PutString(at uintptr, text string) {
	p, length := Lower(&resultPins, text)
	m.putUint32(at, uint32(p))
	m.putUint32(at+4, length)
}

// PutOptionString writes an option<string>. An empty text becomes a missing value.
func (m Memory) PutOptionString(at uintptr, text string) {
	m.PutBool(at, text != "")
	if text != "" {
		m.PutString(at+4, text)
	}
}

// PutPairs writes a list<tuple<string, string>>. It stays pinned until ResultRead.
func (m Memory) PutPairs(at uintptr, pairs [][2]string) {
	p, length := LowerPairs(&resultPins, pairs)
	m.putUint32(at, uint32(p))
	m.putUint32(at+4, length)
}

// Lower returns a string in the form that an import takes.
func Lower(pins *runtime.Pinner, text string) (uintptr, uint32) {
	if text == "" {
		return 1, 0
	}
	p := unsafe.StringData(text)
	pins.Pin(p)
	return uintptr(unsafe.Pointer(p)), uint32(len(text))
}

// LowerPairs returns a list<tuple<string, string>> in the form that an import takes.
func LowerPairs(pins *runtime.Pinner, pairs [][2]string) (uintptr, uint32) {
	if len(pairs) == 0 {
		return 4, 0
	}
	items := Memory{allocate(pins, uintptr(len(pairs))*16)}
	for i, pair := range pairs {
		for j, text := range pair {
			p, length := Lower(pins, text)
			at := uintptr(i)*16 + uintptr(j)*8
			items.putUint32(at, uint32(p))
			items.putUint32(at+4, length)
		}
	}
	return uintptr(items.base), uint32(len(pairs))
}

// Import calls an import, which writes a result of at most 32 bytes into memory, and then reads the result.
func Import(call func(pins *runtime.Pinner, result unsafe.Pointer), read func(Memory)) {
	var pins runtime.Pinner
	defer pins.Unpin()
	result := allocate(&pins, 32)
	call(&pins, result)
	read(Memory{result})
	ArgumentsRead()
}
