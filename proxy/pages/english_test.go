package pages_test

import (
	"sync"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/scheme"
)

// plain returns the design of a site without configuration.
var plain = sync.OnceValue(func() *pages.Design { return pages.New(pages.Site{}) })

// english returns its writer in English.
func english() pages.Writer { return plain().In(pages.English) }

func problem(p api.Problem) []byte { return english().Problem(p).Body }

func listing(l *scheme.Listing, through func(string) string) []byte {
	return english().Listing(l, through).Body
}
