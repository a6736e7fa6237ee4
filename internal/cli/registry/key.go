package registry

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// unresolvableHelp is the help of --allow-unresolvable.
const unresolvableHelp = "accept names that the registry is not asked for (registry.only), and that nobody can resolve here"

// addPrefix gives cmd the flag --prefix.
func addPrefix(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("prefix", false, "the name is a prefix: what names begin with, such as urn:nbn:fi:")
}

// unknownHelp adds to ErrUnknown what may help.
func unknownHelp(key registry.Key, err error) error {
	if !errors.Is(err, registry.ErrUnknown) || key.Kind == registry.KindPrefix {
		return err
	}
	return fmt.Errorf("%w; where a prefix or another system leads it is shown by urnd resolve --trace %s", err, key.Name)
}

// readTime returns the time of a text, which is of RFC 3339 or a date in UTC. Of a date it is the first
// moment, or the last one.
func readTime(text string, end bool) (time.Time, error) {
	text = strings.TrimSpace(text)
	if day, err := time.Parse(time.DateOnly, text); err == nil && !end {
		return day, nil
	}
	at, ok := resolver.ParseAt(text)
	if !ok {
		return time.Time{}, fmt.Errorf("%q is neither a date, such as 2031-05-01, nor a time, such as 2031-05-01T10:00:00Z", text)
	}
	return at.UTC().Truncate(time.Millisecond), nil
}
