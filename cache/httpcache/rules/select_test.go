package rules

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// variantOf returns a variant selected by a request, without content.
func variantOf(vary string, request httpmessage.Fields, age time.Duration, language string) *Response {
	header := httpmessage.NewFields("Vary", vary)
	if language != "" {
		header.Set("Content-Language", language)
	}
	return &Response{
		Status: 200, Fields: header, Selectors: SelectorsOf(header, request),
		Date: NewSecond(time.Unix(1_795_000_000, 0).Add(-age)),
	}
}

// TestValuesAreMadeOnce: the cost of a request is bounded, and independent of the number of variants: RFC 9111
// section 4.1.
func TestValuesAreMadeOnce(t *testing.T) {
	var variants []*Response
	for i := range 32 {
		variants = append(variants,
			variantOf("Accept-Language, Cookie", httpmessage.NewFields("Accept-Language", fmt.Sprintf("de-%d, en", i)),
				0, "fr"))
	}
	for _, test := range []struct {
		name, language string
		allocations    float64
	}{
		{"usual", "de, en;q=0.5", 20},
		{"60 kB", strings.Repeat("de-AT;q=0.5, ", 60<<10/13), 2},
		{"many members", strings.Repeat("a,", maxNormalMembers), 2},
		{
			"the most that is made normal",
			strings.Repeat("de-at-1996;q=0.55,", maxNormalMembers)[:maxNormalBytes-1], 600,
		},
	} {
		requested := 0
		lines := []string{test.language}
		request := func(name string) []string {
			requested++
			if name == acceptLanguage {
				return lines
			}
			return nil
		}
		if Select(variants, "", request) != nil || requested > 2 { // once more for the preferred language
			t.Errorf("%s: the request is asked %d times", test.name, requested)
		}
		if n := testing.AllocsPerRun(10, func() { Select(variants, "", request) }); n > test.allocations {
			t.Errorf("%s: %v allocations", test.name, n)
		}
	}
}

// TestLongValues: a value that is not normalized matches only the same bytes, and no shorter value.
func TestLongValues(t *testing.T) {
	long := strings.Repeat("de, ", maxNormalBytes/4)
	for _, test := range []struct {
		name              string
		stored, requested []string
		want              bool
	}{
		{"the same bytes", []string{long}, []string{long}, true},
		{"one space more", []string{long}, []string{long + " "}, false},
		{"in two lines", []string{long + "," + long}, []string{long, long}, true},
		{"the last byte", []string{long + "a"}, []string{long + "b"}, false},
		{
			"what it would be in normal form",
			[]string{strings.Repeat("de,", maxNormalMembers+1)},
			[]string{strings.Repeat("de,", maxNormalMembers)},
			false,
		},
		{"many empty lines", make([]string, maxNormalBytes), make([]string, maxNormalBytes+1), false},
		{"empty and missing", []string{""}, nil, false},
	} {
		for _, name := range []string{"Accept-Language", "Cookie"} {
			s := variantOf(name, httpmessage.FromHeader(http.Header{name: test.stored}), 0, "")
			if got := s.Matches(httpmessage.FromHeader(http.Header{name: test.requested}).Values); got != test.want {
				t.Errorf("%s, %s: %t", test.name, name, got)
			}
		}
	}
}

// TestManySelectors: no request selects a response that names more fields than maxSelectors.
func TestManySelectors(t *testing.T) {
	for n, want := range map[int]bool{1: true, maxSelectors: true, maxSelectors + 1: false, 100_000: false} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("X-%d", i))
		}
		s := variantOf(strings.Join(names, ","), httpmessage.Fields{}, 0, "")
		if got := s.Matches(httpmessage.Fields{}.Values); got != want || variesAlways(s.Fields) == want ||
			len(s.Selectors) > maxSelectors {
			t.Errorf("%d fields: %t, %d selectors", n, got, len(s.Selectors))
		}
	}
	if variantOf("X-A, *", httpmessage.Fields{}, 0, "").Matches(httpmessage.NewFields("*", "x").Values) {
		t.Error("* is selected")
	}
}

// referenceSelected is Select in the words of RFC 9111 section 4.1: it compares each variant by itself.
func referenceSelected(variants []*Response, requested []httpmessage.Fields, request httpmessage.Fields) *Response {
	var matching []*Response
	for i, s := range variants {
		matches := true
		for _, name := range listOfNames(s.Fields.Values("Vary")) {
			same := name != "*" && normalValue(name, requested[i].Values(name)) == normalValue(name,
				request.Values(name))
			prefers := name == acceptLanguage && preferredLanguage(request.Values(name)) != "" &&
				strings.EqualFold(preferredLanguage(request.Values(name)), s.Fields.Get("Content-Language"))
			matches = matches && (same || prefers && languageRanges(normalValue(name, requested[i].Values(name))))
		}
		if matches {
			matching = append(matching, s)
		}
	}
	if len(matching) == 0 {
		return nil
	}
	return slices.MinFunc(matching, func(a, b *Response) int { return cmp.Compare(b.Date, a.Date) })
}

func listOfNames(lines []string) (names []string) {
	for name := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		if name = trimSpace(name); name != "" {
			names = append(names, http.CanonicalHeaderKey(name))
		}
	}
	return names
}

// FuzzSelected: Select returns the same variant as the reference.
func FuzzSelected(f *testing.F) {
	f.Add(uint64(1), "de, en;q=0.5", "X-A, accept-language", "*")
	f.Add(uint64(2), strings.Repeat("a,", 70), "Accept", "A,B,C,D,E,F,G")
	f.Add(uint64(3), `"a, b", c`, "Accept-Language", "Accept-Encoding, Cookie")
	f.Fuzz(func(t *testing.T, seed uint64, text, vary, other string) {
		if len(listOfNames([]string{vary})) > maxSelectors || strings.Count(vary, ",") >= maxSelectors ||
			strings.Count(other,
				",") >= maxSelectors || len(text) > 4096 {
			t.Skip("more than is compared")
		}
		random := rand.New(rand.NewPCG(seed, 0))
		values := [][]string{
			nil,
			{""},
			{text},
			{strings.ToUpper(text)},
			{" " + text + " "},
			strings.Split(text, ","),
			{"de"},
			{"de, en;q=0.5"},
			{"en;q=0.5,de"},
			{"fr"},
		}
		names := slices.Concat(listOfNames([]string{vary, other}), []string{acceptLanguage})
		some := func() httpmessage.Fields {
			header := httpmessage.Fields{}
			for _, name := range names {
				header.Del(name)
				for _, line := range values[random.IntN(len(values))] {
					header.Add(name, line)
				}
			}
			return header
		}
		var variants []*Response
		var requested []httpmessage.Fields
		for i := range random.IntN(8) {
			request := some()
			requested = append(requested, request)
			variants = append(variants,
				variantOf([]string{vary, other}[random.IntN(2)], request, time.Duration(random.IntN(3))*time.Second,
					[]string{
						"",
						"de", "FR",
					}[random.IntN(3)]))
			if random.IntN(2) == 0 { // as loaded from disk
				for j := range variants[i].Selectors {
					variants[i].Selectors[j].Line = ""
				}
			}
		}
		for range 4 {
			request := some()
			if got, want := Select(variants, "", request.Values), referenceSelected(variants, requested,
				request); got != want {
				t.Errorf("%v selects %+v, want %+v", request, got, want)
			}
		}
	})
}
