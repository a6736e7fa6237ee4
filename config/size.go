package config

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

// Size is a number of bytes, written "64MiB" or as plain digits.
type Size int64

// UnmarshalText reads what humanize.ParseBytes reads.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if err != nil || n > 1<<62 {
		return fmt.Errorf("%q is not a size such as 64MiB", text)
	}
	*s = Size(n)
	return nil
}

// MarshalText prints a size so that it reads back as the same number.
func (s Size) MarshalText() ([]byte, error) {
	for _, unit := range []struct {
		name  string
		bytes Size
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if s != 0 && s%unit.bytes == 0 {
			return fmt.Appendf(nil, "%d%s", s/unit.bytes, unit.name), nil
		}
	}
	return fmt.Appendf(nil, "%dB", int64(s)), nil
}
