package ddds

import (
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver"
)

func TestParseServices(t *testing.T) {
	word := "a" + strings.Repeat("1", 31)
	for _, c := range []struct {
		field    string
		protocol string
		rs       []string
	}{
		{"", "", nil},
		{"thttp", "thttp", nil},
		{"thttp+I2L+I2C+I2R", "thttp", []string{"I2L", "I2C", "I2R"}},
		{"THTTP+i2l", "thttp", []string{"i2l"}},
		{"+I2L", "", []string{"I2L"}},
		{"e2u+sip", "e2u", []string{"sip"}},
		{"I2R+http", "http", []string{"I2R"}},
		{"i2l:THTTP", "thttp", []string{"i2l"}},
		{"z3950+N2L+N2C", "z3950", []string{"N2L", "N2C"}},
		{word + "+" + word, word, []string{word}},
	} {
		got, err := parseServices(c.field)
		if err != nil || got.protocol != c.protocol || !slices.Equal(got.rs, c.rs) {
			t.Errorf("%q: got %+v, %v", c.field, got, err)
		}
	}
}

func TestParseServicesRefuses(t *testing.T) {
	for _, field := range []string{
		"+", "++", "thttp+", "thttp++I2L", "thttp+I2L+", " thttp", "thttp +I2L", "3http", "thttp+2L", "thttp+I=I",
		"EM:ProtA", "thttp+I2L,I2C", "th-ttp", "th_ttp", "@http", "[http", "`http", "{http", "th\u00fctp", "\u212ahttp",
		"a" + strings.Repeat("1", 32), "a+a" + strings.Repeat("1", 32),
	} {
		if got, err := parseServices(field); err == nil {
			t.Errorf("%q: got %+v", field, got)
		}
	}
}

func TestOffers(t *testing.T) {
	for _, c := range []struct {
		field string
		want  resolver.Service
		offer bool
	}{
		{"", resolver.I2L, true},
		{"thttp", resolver.I2L, true},
		{"thttp", resolver.I2C, true},
		{"thttp+I2L", resolver.I2L, true},
		{"thttp+i2l", resolver.I2L, true},
		{"+I2L", resolver.I2L, true},
		{"http+N2L+N2C+N2R", resolver.I2L, true}, // RFC 3403 section 6.1 writes N
		{"thttp+L2L", resolver.I2L, true},
		{"thttp+I2C+I2L", resolver.I2L, true},
		{"thttp+I2Ls", resolver.I2L, true},
		{"thttp+N2L", resolver.I2Ls, true},
		{"rcds+I2C", resolver.I2L, false},
		{"rcds+I2C", resolver.I2C, true},
		{"thttp+L2R", resolver.I2L, false},
		{"thttp+X2L", resolver.I2L, false},
		{"sip+E2U", resolver.I2L, false},
		{"e2u+sip", resolver.I2L, false},
	} {
		s, err := parseServices(c.field)
		if err != nil {
			t.Errorf("%q: %v", c.field, err)
		}
		if s.offers(c.want) != c.offer {
			t.Errorf("%q offers %s: got %t", c.field, c.want, !c.offer)
		}
	}
}

// FuzzServices: an accepted field consists of its protocol and its services.
func FuzzServices(f *testing.F) {
	for _, seed := range []string{"", "thttp+I2L", "+N2L+N2Ls", "I2R:http", "I2R+http", "a+", "é", "a+b+c", "E2U+sip"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, field string) {
		s, err := parseServices(field)
		if err != nil {
			return
		}
		again := strings.Join(append([]string{s.protocol}, s.rs...), "+")
		if !s.uNAPTR && !strings.EqualFold(again, field) {
			t.Errorf("%q becomes %q", field, again)
		}
		for _, want := range []resolver.Service{resolver.I2L, resolver.I2Ls, resolver.I2C, resolver.I2Ns} {
			if nearest := s.nearest(want); singular(nearest) != singular(want) {
				t.Errorf("%q: the nearest of %s is %s", field, want, nearest)
			}
		}
	})
}
