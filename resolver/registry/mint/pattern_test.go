package mint

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// numbers is a namespace whose check digit is the last digit of the number.
func numbers() map[string]registry.CheckDigit {
	return map[string]registry.CheckDigit{"urn:number:": {
		Digits:  6,
		Compute: func(digits string) byte { return digits[len(digits)-1] },
	}}
}

func TestPatternCounted(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		number  uint64
		want    string
	}{
		{"urn:a:x-{counter}", 7, "urn:a:x-7"},
		{"urn:a:x-{counter}", 1234567, "urn:a:x-1234567"},
		{"urn:a:x-{counter}-y", 7, "urn:a:x-7-y"},
		{"urn:a:x-{counter:4}", 7, "urn:a:x-0007"},
		{"urn:a:x-{counter:4}", 12345, "urn:a:x-12345"},
		{"urn:a:x-{counter:64}", 1, "urn:a:x-" + strings.Repeat("0", 63) + "1"},
		{"{counter}", math.MaxUint64, "18446744073709551615"},
		{"ark:/13030/xf93gt{counter}{check}", 2, "ark:/13030/xf93gt2q"},
		{"urn:nbn:de:bvb:12-bsb{counter:8}-{nbn}", 103137, "urn:nbn:de:bvb:12-bsb00103137-3"},
		{"urn:number:12{counter}", 34, "urn:number:1200344"},
		{"URN:Number:1-2-{counter}", 34, "URN:Number:1200344"},
		{"urn:number:{counter}", 123456, "urn:number:1234566"},
		{"noid:ark:/13030/xf93gt.zdk", 2, "ark:/13030/xf93gt2q"},
		{"noid:a:b.sde", 29, "a:b10"},
		{"noid:a:b.sde", 10, "a:b0b"},
		{"noid:a:b.ze", 29*29 - 1, "a:bzz"},
		{"noid:a.b:c.zd", 10, "a.b:c10"},
	} {
		p, err := parsePattern(tt.pattern, numbers())
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if got, err := p.counted(tt.number); got != tt.want || err != nil {
			t.Errorf("%s: number %d is %q, %v; want %q", tt.pattern, tt.number, got, err, tt.want)
		}
	}
}

func TestPatternDrawn(t *testing.T) {
	for pattern, want := range map[string]string{
		"urn:a:x-{random:8}":         `^urn:a:x-[0-9bcdfghjkmnpqrstvwxz]{8}$`,
		"urn:a:x-{random:3}y{check}": `^urn:a:x-[0-9bcdfghjkmnpqrstvwxz]{3}y[0-9bcdfghjkmnpqrstvwxz]$`,
		"noid:ark:/1/f.reedeedk":     `^ark:/1/f[0-9b-z]{2}[0-9][0-9b-z]{2}[0-9][0-9b-z]$`,
	} {
		p, err := parsePattern(pattern, nil)
		if err != nil || !p.random {
			t.Fatalf("%s: %+v, %v", pattern, p, err)
		}
		for range 100 {
			if got, err := p.drawn(); err != nil || !regexp.MustCompile(want).MatchString(got) {
				t.Fatalf("%s: %q, %v", pattern, got, err)
			}
		}
	}
}

func TestPatternSize(t *testing.T) {
	for pattern, want := range map[string]uint64{
		"urn:number:12{counter}":               10_000,
		"noid:a:b.sde":                         290,
		"noid:a:b.zde":                         math.MaxUint64,
		"a:{counter:3}":                        math.MaxUint64,
		"noid:a:b.s" + strings.Repeat("e", 20): math.MaxUint64,
	} {
		p, err := parsePattern(pattern, numbers())
		if got := p.size(); got != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", pattern, got, err, want)
		}
	}
}

func TestPatternErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                                      "{counter} or",
		"urn:a:b":                               "{counter} or",
		"urn:a:{check}":                         "{check} must be at the end",
		"urn:a:{counter}{counter}":              "more than one",
		"urn:a:{counter}{random:3}":             "more than one",
		"urn:a:{counter}{check}x":               "check character must be last",
		"urn:a:{counter}{check}{nbn}":           "check character must be last",
		"urn:a:{random}":                        "{random} without a number",
		"urn:a:{random:0}":                      `"0" is not a number of characters from 1 to 64`,
		"urn:a:{random:65}":                     `"65" is not a number`,
		"urn:a:{counter:+3}":                    `"+3" is not a number`,
		"urn:a:{counter:}":                      `"" is not a number`,
		"urn:a:{counter}{check:2}":              "{check} is one character",
		"urn:a:{Counter}":                       "unknown {Counter}",
		"urn:a:{}":                              "unbalanced brace",
		"urn:a:{counter":                        "unbalanced brace",
		"urn:a:counter}":                        "unbalanced brace",
		"urn:a:{counter}}":                      "unbalanced brace",
		"urn:number:1":                          "digits of the range and {counter}",
		"urn:number:1{counter:3}":               "digits of the range and {counter}",
		"urn:number:x{counter}":                 "digits of the range and {counter}",
		"urn:number:123456{counter}":            "no digits left",
		"noid:":                                 "a template of NOID",
		"noid:ark:/1/x":                         "a template of NOID",
		"noid:ark:/1/x.r":                       "a template of NOID",
		"noid:ark:/1/x.rk":                      "a mask of NOID",
		"noid:ark:/1/x.ree7":                    "a mask of NOID",
		"noid:ark:/1/x.xee":                     "a mask of NOID",
		"noid:ark:/1/{x.ree":                    "a mask of NOID",
		"noid:a:." + strings.Repeat("e", 99):    "a template of NOID",
		strings.Repeat("x", 2000) + "{counter}": "longer than 1024 bytes",
	} {
		_, err := parsePattern(pattern, numbers())
		if !errors.Is(err, registry.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", pattern, err, want)
		}
	}
}

// Every valid pattern makes names, different ones for different numbers.
func FuzzPattern(f *testing.F) {
	for _, seed := range []string{
		"urn:nbn:fi:lib-{counter}", "urn:a:{counter:6}-x{check}", "a:{random:8}{nbn}", "noid:ark:/12345/fk.reedeedk",
		"urn:number:12{counter}", "a:{", "}{",
	} {
		f.Add(seed, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, number uint64) {
		p, err := parsePattern(text, numbers())
		if err != nil {
			if !errors.Is(err, registry.ErrInvalid) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if p.random {
			if _, err := p.drawn(); err != nil && p.check != ofNBN {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		number %= p.size() - 1
		a, err := p.counted(number)
		b, errB := p.counted(number + 1)
		if err != nil || errB != nil {
			if p.check != ofNBN {
				t.Errorf("%q: %v, %v", text, err, errB)
			}
			return
		}
		if a == b {
			t.Errorf("%q: %d and the next number are both %q", text, number, a)
		}
	})
}
