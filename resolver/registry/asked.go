package registry

import (
	"fmt"
	"slices"
	"strings"
)

// Asked reports whether a registry that is asked only for what begins so is asked for a name, or for some name below a
// prefix; nil is asked for all.
func Asked(only []string, key Key) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(beginning string) bool {
		return strings.HasPrefix(key.Name, beginning) || key.Kind == KindPrefix && strings.HasPrefix(beginning, key.Name)
	})
}

// CheckAsked returns an error that wraps ErrInvalid for a key that the registry is not asked for: what it accepts is
// answered. Those that are there already can be changed all the same.
func (r *Registry) CheckAsked(before Entry, key Key) error {
	if before.Exists() || Asked(r.config.Only, key) {
		return nil
	}
	return fmt.Errorf("%w: %s would not be answered: this registry is asked only for what begins with %s",
		ErrInvalid, key, strings.Join(r.config.Only, ", "))
}

// AskedFor returns what the names begin with that a registry is asked for, as Config.Only, where a site may have said so:
// only is what it said, and without it all URNs are meant.
func AskedFor(only []string) []string {
	if len(only) == 0 {
		return []string{"urn:"}
	}
	return only
}
