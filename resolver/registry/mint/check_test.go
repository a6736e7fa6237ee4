package mint

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// The example is from the documentation of NOID, https://metacpan.org/dist/Noid/view/noid
func TestNOIDCheck(t *testing.T) {
	if got := noidCheck("13030/xf93gt2"); got != 'q' {
		t.Errorf("the check character is %c, want q", got)
	}
}

func TestNOIDZone(t *testing.T) {
	for name, want := range map[string]string{
		"ark:/13030/xf93gt2":                  "13030/xf93gt2",
		"ark:13030/xf93gt2":                   "13030/xf93gt2",
		"https://n2t.net/ark:/13030/xf93gt2":  "13030/xf93gt2",
		"urn:nbn:fi:lib-xf93gt2":              "fi:lib-xf93gt2",
		"https://id.example.org/item/xf93gt2": "item/xf93gt2",
		"info:hdl/xf93gt2":                    "hdl/xf93gt2",
		"https://id.example.org":              "",
		"something":                           "",
	} {
		if got := noidZone(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// The guarantee of NOID for names of at most 28 characters including the check character: each single wrong
// character and each transposition of adjacent characters is detected.
func TestNOIDCheckDetects(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) // reproducible
	right := func(text []byte) bool {
		last := len(text) - 1
		return noidCheck(string(text[:last])) == text[last]
	}
	for range 500 {
		text := make([]byte, 1+random.IntN(27))
		for i := range text {
			text[i] = betanumeric[random.IntN(len(betanumeric))]
		}
		text = append(text, noidCheck(string(text)))
		if !right(text) {
			t.Fatalf("%q is not right", text)
		}
		for i, was := range text {
			for _, wrong := range []byte(betanumeric) {
				if text[i] = wrong; wrong != was && right(text) {
					t.Fatalf("%q: %c instead of %c at %d is not detected", text, wrong, was, i)
				}
			}
			text[i] = was
		}
		for i := range len(text) - 1 {
			a, b := text[i], text[i+1]
			if text[i], text[i+1] = b, a; a != b && right(text) {
				t.Fatalf("%q: %c and %c swapped at %d are not detected", text, a, b, i)
			}
			text[i], text[i+1] = a, b
		}
	}
}

// The first example is from the Deutsche Nationalbibliothek; the others are names in use.
func TestNBNCheck(t *testing.T) {
	for _, name := range []string{
		"urn:nbn:de:gbv:089-3321752945",
		"urn:nbn:de:bvb:12-bsb00103137-3",
		"urn:nbn:de:0183-mbi0003721",
		"urn:nbn:de:101:1-201102033592",
		"urn:nbn:de:gbv:7-isbn-90-6984-508-3-8",
		"URN:NBN:DE:GBV:089-3321752945",
	} {
		last := len(name) - 1
		if got, err := nbnCheck(name[:last]); err != nil || got != name[last] {
			t.Errorf("%s: the check digit is %c, %v", name, got, err)
		}
	}
	if _, err := nbnCheck("urn:nbn:de:101:1-~"); !errors.Is(err, registry.ErrInvalid) ||
		!strings.Contains(err.Error(), "'~'") {
		t.Errorf("got %v", err)
	}
	if got, err := nbnCheck(""); got != '0' || err != nil {
		t.Errorf("nothing: %c, %v", got, err)
	}
}
