package wais_test

import (
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/wais"
	"github.com/urnd/urnd/resolver/schemetest"
)

func TestSuite(t *testing.T) {
	schemetest.Run(t, schemetest.Suite{
		New: func(_ testing.TB, dial scheme.Dial, limits scheme.Limits) scheme.Handler {
			return wais.New(wais.Config{Dial: dial, Limits: limits, Records: 1000})
		},
		Peer:     serve,
		Resource: func(address string) string { return "wais://" + address + "/d/gif/1%3Abody" },
		Listing:  func(address string) string { return "wais://" + address + "/d?names" },
	})
}
