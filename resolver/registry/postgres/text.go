package postgres

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/registry"
)

// isValid returns registry.ErrInvalid for texts that PostgreSQL does not know: with a NUL, or not UTF-8.
func isValid(texts ...string) error {
	for _, text := range texts {
		switch {
		case strings.IndexByte(text, 0) >= 0:
			return fmt.Errorf("%w: %q has a NUL", registry.ErrInvalid, text)
		case !utf8.ValidString(text):
			return fmt.Errorf("%w: %q is not UTF-8", registry.ErrInvalid, text)
		}
	}
	return nil
}

// isStorable is isValid for texts that are stored: an index does not take longer ones.
func isStorable(text string) error {
	if len(text) > registry.MaxKey {
		return fmt.Errorf("%w: %.40q... has more than %d octets", registry.ErrInvalid, text, registry.MaxKey)
	}
	return isValid(text)
}

// mayExist reports whether there can be something by a name or key.
func mayExist(text string) bool { return isValid(text) == nil }
