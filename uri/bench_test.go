package uri_test

import (
	"testing"

	"github.com/urnd/urnd/uri"
)

func BenchmarkParse(b *testing.B) {
	for _, s := range []string{"urn:ietf:rfc:2648", "HTTP://www.Example.COM:80/a/./b/../c/%7Euser/?q=1&b=2#frag"} {
		b.Run(s[:4], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := uri.Parse(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNormalize(b *testing.B) {
	for name, s := range map[string]string{
		"canonical-urn": "urn:ietf:rfc:2648", "urn": "URN:IETF:rfc:2648",
		"url": "HTTP://www.Example.COM:80/a/./b/../c/%7Euser/?q=1&b=2#frag",
	} {
		b.Run(name, func(b *testing.B) {
			u := mustParse(b, s)
			b.ReportAllocs()
			for b.Loop() {
				_ = u.Normalize()
			}
		})
	}
}
