package bench

import (
	"errors"
	"net/url"
	"testing"

	"github.com/PuerkitoBio/purell"
	"github.com/leodido/go-urn"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// contender is one way to do a job: urnd's or a peer's.
type contender struct {
	name string
	// prepare does what a caller does once, outside of what is timed. What it
	// returns is called as a value, so no compiler sees that the result is
	// thrown away.
	prepare func(text string) func() (string, error)
}

// keys are the ways to make the key of a URN, urnd's first.
func keys(tb testing.TB) []contender {
	tb.Helper()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		tb.Fatal(err)
	}
	names := resolver.Names{Set: set, Accept: uri.CurrentURN}
	return []contender{
		{"urnd", func(text string) func() (string, error) {
			return func() (string, error) { return urndKey(names, text) }
		}},
		// The grammar that urnd has, without putting the parts of the key
		// together: where it is in doubt what to count, the peer gains.
		{"go-urn", func(text string) func() (string, error) {
			octets, mode := []byte(text), urn.WithParsingMode(urn.RFC8141Only)
			return func() (string, error) {
				u, err := goURN(octets, mode)
				if err != nil {
					return "", err
				}
				return u.Normalize().SS, nil
			}
		}},
		// What go-urn does unless it is told otherwise: RFC 2141.
		{"go-urn-2141", func(text string) func() (string, error) {
			octets := []byte(text)
			return func() (string, error) {
				u, err := goURN(octets)
				if err != nil {
					return "", err
				}
				return u.Normalize().SS, nil
			}
		}},
		// The key as one text, which is what urnd makes.
		{"go-urn-text", func(text string) func() (string, error) {
			octets, mode := []byte(text), urn.WithParsingMode(urn.RFC8141Only)
			return func() (string, error) {
				u, err := goURN(octets, mode)
				if err != nil {
					return "", err
				}
				return u.Normalize().String(), nil
			}
		}},
	}
}

var errGoURN = errors.New("go-urn does not parse it")

func goURN(octets []byte, options ...urn.Option) (*urn.URN, error) {
	u, ok := urn.Parse(octets, options...)
	if !ok {
		return nil, errGoURN
	}
	return u, nil
}

// urndKey does what a request does to make its key.
func urndKey(names resolver.Names, text string) (string, error) {
	q, err := resolver.ParseQuery(text, resolver.I2L)
	if err != nil {
		return "", err
	}
	q, err = names.Canonical(q)
	return q.Key(), err
}

// normalForms are the ways to make the normal form of a URL, urnd's first.
func normalForms() []contender {
	return []contender{
		{"urnd", func(text string) func() (string, error) {
			return func() (string, error) {
				u, err := uri.Parse(text)
				return u.Normalize().String(), err
			}
		}},
		// It does less than the others: no more than the scheme's case changes.
		{"net-url", func(text string) func() (string, error) {
			return func() (string, error) {
				u, err := url.Parse(text)
				if err != nil {
					return "", err
				}
				return u.String(), nil
			}
		}},
		// The flags that come to the steps of urnd, and no more.
		{"purell", func(text string) func() (string, error) {
			const flags = purell.FlagsSafe | purell.FlagRemoveDotSegments
			return func() (string, error) { return purell.NormalizeURLString(text, flags) }
		}},
	}
}
