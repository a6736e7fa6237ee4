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

// contender is an implementation of a job, by urnd or by another package.
type contender struct {
	name string
	// prepare does the work of a caller that is needed only once and is not timed. The returned function is
	// called as a value, so that the compiler cannot eliminate the unused result.
	prepare func(text string) func() (string, error)
}

// keys returns the implementations that compute the key of a URN, urnd's first.
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
		// With the grammar of urnd, but without combining the parts of the key: in case of doubt the comparison
		// favors the other package.
		{"go-urn", func(text string) func() (string, error) {
			data, mode := []byte(text), urn.WithParsingMode(urn.RFC8141Only)
			return func() (string, error) {
				u, err := goURN(data, mode)
				if err != nil {
					return "", err
				}
				return u.Normalize().SS, nil
			}
		}},
		// With the default grammar of go-urn: RFC 2141.
		{"go-urn-2141", func(text string) func() (string, error) {
			data := []byte(text)
			return func() (string, error) {
				u, err := goURN(data)
				if err != nil {
					return "", err
				}
				return u.Normalize().SS, nil
			}
		}},
		// With the key as one string, as urnd returns it.
		{"go-urn-text", func(text string) func() (string, error) {
			data, mode := []byte(text), urn.WithParsingMode(urn.RFC8141Only)
			return func() (string, error) {
				u, err := goURN(data, mode)
				if err != nil {
					return "", err
				}
				return u.Normalize().String(), nil
			}
		}},
	}
}

var errGoURN = errors.New("go-urn does not parse it")

func goURN(data []byte, options ...urn.Option) (*urn.URN, error) {
	u, ok := urn.Parse(data, options...)
	if !ok {
		return nil, errGoURN
	}
	return u, nil
}

// urndKey computes a key like a request does.
func urndKey(names resolver.Names, text string) (string, error) {
	q, err := resolver.ParseQuery(text, resolver.I2L)
	if err != nil {
		return "", err
	}
	q, err = names.Canonical(q)
	return q.Key(), err
}

// normalForms returns the implementations that normalize a URL, urnd's first.
func normalForms() []contender {
	return []contender{
		{"urnd", func(text string) func() (string, error) {
			return func() (string, error) {
				u, err := uri.Parse(text)
				return u.Normalize().String(), err
			}
		}},
		// It does less than the others: it only changes the case of the scheme.
		{"net-url", func(text string) func() (string, error) {
			return func() (string, error) {
				u, err := url.Parse(text)
				if err != nil {
					return "", err
				}
				return u.String(), nil
			}
		}},
		// With the flags that correspond to the steps of urnd.
		{"purell", func(text string) func() (string, error) {
			const flags = purell.FlagsSafe | purell.FlagRemoveDotSegments
			return func() (string, error) { return purell.NormalizeURLString(text, flags) }
		}},
	}
}
