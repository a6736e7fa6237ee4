package explain_test

import (
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/explain"
	"github.com/urnd/urnd/resolver/schemetest"
)

func TestSuite(t *testing.T) {
	for _, text := range []string{
		"telnet://a:hunter2@h:25/", "telnet://a%0D%0A%1b%E2%80%AE:%00@h/", "prospero://h/a%FF%0D;b%00=%E2%80%AE",
		"mailto:a@h.example,b@h.example?subject=%0D%0A%E2%80%AE&body=%00%0D%0A%FF&bcc=c@h.example",
	} {
		schemetest.Run(t, schemetest.Suite{
			New: func(testing.TB, scheme.Dial, scheme.Limits) scheme.Handler {
				return explain.New(explain.Config{})
			},
			Listing: func(string) string { return text },
		})
	}
}
