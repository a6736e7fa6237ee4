package digitallink_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns/digitallink"
)

// GS1 Digital Link: URI Syntax 1.7 sections 4.1 to 4.12, and the GS1 General Specifications.
func TestParse(t *testing.T) {
	for _, test := range []struct {
		path, query string
		want        string // the normal path, or the broken rule
		offset      int    // of the error, in bytes; -1 for none
	}{
		{"/01/09506000134352", "", "/01/09506000134352", -1},
		{"01/09506000134352/", "", "/01/09506000134352", -1},
		{"/01/9506000134352", "", "/01/09506000134352", -1}, // an EAN-13
		{"/01/614141123452", "", "/01/00614141123452", -1},  // a UPC
		{"/01/95209005", "", "/01/00000095209005", -1},      // a GTIN-8
		{"/01/09506000134352/22/2A/10/ABC%2F1/21/s.1", "", "/01/09506000134352/22/2A/10/ABC%2F1/21/s.1", -1},
		{"/01/09506000134352/235/x", "", "/01/09506000134352/235/x", -1},
		{"/00/106141412345678908", "", "/00/106141412345678908", -1},
		{"/414/9521141123454/254/32a%2Fb", "", "/414/9521141123454/254/32a%2Fb", -1},
		{"/415/9521141123454/8020/1", "", "/415/9521141123454/8020/1", -1},
		{"/8003/09521141123454SN01", "", "/8003/09521141123454SN01", -1},
		{"/8004/9521141%2d1", "", "/8004/9521141-1", -1},
		{"/8006/095211411234540102/21/1", "", "/8006/095211411234540102/21/1", -1},
		{"/8013/1987654Ad4X4bL5ttr2310c2K", "", "/8013/1987654Ad4X4bL5ttr2310c2K", -1},
		{"/8013/12345678901234567890123NT", "", "/8013/12345678901234567890123NT", -1},
		{"/01/09506000134352", "17=261200&linkType=gs1:pip;3103=000195&4711=x", "/01/09506000134352", -1},

		{"", "", "path", 0},
		{"/foo", "", "path", 4},
		{"/foo/bar", "", "primary key", 1},
		{"/gtin/09506000134352", "", "primary key", 1},
		{"/01/09506000134352/10", "", "path", 21},
		{"/01/09506000134351", "", "GTIN (01)", 17},
		{"/01/0950600013435a", "", "GTIN (01)", 17},
		{"/01/095060001343520", "", "GTIN (01)", 18},
		{"/01/0950600", "", "GTIN (01)", 11},
		{"/01/9506000134353", "", "GTIN (01)", 16},
		{"/01/09506000134352/21/1/10/2", "", "qualifier", 24},
		{"/01/09506000134352/235/x/10/2", "", "qualifier", 25},
		{"/01/09506000134352/17/261200", "", "qualifier", 19},
		{"/01/09506000134352/10/a%20b", "", "lot (10)", 23},
		{"/01/09506000134352/10/%41%20b", "", "lot (10)", 25},
		{"/01/09506000134352/10/a%2", "", "pct-encoded", 23},
		{"/01/09506000134352/10/123456789012345678901", "", "lot (10)", 42},
		{"/01//10/a", "", "GTIN (01)", 4},
		{"/01/09506000134352//", "", "path", 20},
		{"/01/09506000134352/10//", "", "lot (10)", 22},
		{"/415/9521141123454", "", "qualifier", 18},
		{"/8003/19521141123454", "", "GRAI (8003)", 6},
		{"/8004/95a1", "", "GIAI (8004)", 8},
		{"/8010/9521141a", "", "CPID (8010)", 13},
		{"/8010/9521141/8011/01", "", "CPID serial (8011)", 19},
		{"/8013/1987654Ad4X4bL5ttr2310cXX", "", "GMN (8013)", 29},
		{"/01/09506000134352", "10=abc", "data attribute", 0},
		{"/01/09506000134352", "x=1&01=09506000134352", "data attribute", 4},
		{"/01/09506000134352", "17=2612", "expiration date (17)", 7},
		{"/01/09506000134352", "410=9521141123450", "GLN (410)", 16},
		{"/01/" + strings.Repeat("0", digitallink.MaxPath), "", "length", digitallink.MaxPath},
	} {
		l, err := digitallink.GS1().Parse(test.path, test.query)
		var failure *uri.ParseError
		switch {
		case test.offset < 0 && (err != nil || l.Path() != test.want):
			t.Errorf("%s?%s: %v", test.path, test.query, err)
		case test.offset < 0:
			again, err := digitallink.GS1().Parse(l.Path(), "")
			if err != nil || again.Path() != l.Path() {
				t.Errorf("%s: parsed again %v", l.Path(), err)
			}
		case !errors.As(err, &failure) || failure.Rule.Name != test.want || failure.Offset != test.offset:
			t.Errorf("%s?%s: %v, want %s at %d", test.path, test.query, err, test.want, test.offset)
		}
	}
}

// The error contains the correct check digit.
func TestCheckDigitIsNamed(t *testing.T) {
	_, err := digitallink.GS1().Parse("/01/09506000134351", "")
	if err == nil || !strings.Contains(err.Error(), "the check digit should be 2") {
		t.Error(err)
	}
	_, err = digitallink.GS1().Parse("/8013/1987654Ad4X4bL5ttr2310cXX", "")
	if err == nil || !strings.Contains(err.Error(), "the check characters should be 2K") {
		t.Error(err)
	}
}

// GS1-Conformant Resolver standard section 2.5.9.
func TestLevels(t *testing.T) {
	const gtin = "/01/09506000134352"
	for _, test := range []struct {
		path    string
		isLevel bool
		levels  []string
	}{
		{gtin, true, []string{gtin}},
		{gtin + "/235/x", true, []string{gtin + "/235/x", gtin}},
		{gtin + "/21/s", true, []string{gtin + "/21/s", gtin}},
		{gtin + "/22/v/10/l", true, []string{gtin + "/22/v/10/l", gtin + "/10/l", gtin + "/22/v", gtin}},
		{gtin + "/10/l", true, []string{gtin + "/10/l", gtin}},
		{
			gtin + "/22/v/10/l/21/s", false,
			[]string{gtin + "/21/s", gtin + "/22/v/10/l", gtin + "/10/l", gtin + "/22/v", gtin},
		},
		{gtin + "/10/l/21/s", false, []string{gtin + "/21/s", gtin + "/10/l", gtin}},
		{"/414/9521141123454/254/1", true, []string{"/414/9521141123454/254/1", "/414/9521141123454"}},
		{"/00/106141412345678908", true, []string{"/00/106141412345678908"}},
	} {
		l, err := digitallink.GS1().Parse(test.path, "")
		if err != nil {
			t.Fatal(err)
		}
		var levels []string
		for _, level := range l.Levels() {
			levels = append(levels, level.Path())
		}
		if !slices.Equal(levels, test.levels) || l.IsLevel() != test.isLevel {
			t.Errorf("%s: %t, %q", test.path, l.IsLevel(), levels)
		}
	}
}

// A scheme is data, here data identifiers of ASC MH10.8.2: a product by its issuing agency, and a serial
// number.
func TestAnotherScheme(t *testing.T) {
	value := []digitallink.Part{{Set: digitallink.Set39, Min: 1, Max: 50}}
	scheme := &digitallink.Scheme{Name: "ISO/IEC 15459", Keys: []digitallink.Key{{
		Field:  digitallink.Field{Code: "25P", Name: "product", Value: value},
		Chains: [][]digitallink.Field{{{Code: "S", Name: "serial", Value: value}}}, Levels: [][]string{{"S"}},
	}}}
	l, err := scheme.Parse("/25P/LHABC%2F1/S/42", "17=x")
	if err != nil || l.Path() != "/25P/LHABC%2F1/S/42" ||
		l.Key() != (digitallink.Element{Code: "25P", Value: "LHABC/1"}) || len(l.Qualifiers()) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := scheme.Parse("/01/09506000134352", ""); err == nil || !strings.Contains(err.Error(), "25P") {
		t.Errorf("a key of another scheme: %v", err)
	}
}

// GS1 Digital Link: Compression section 4. The first two segments encode one tag.
func TestEPC(t *testing.T) {
	for _, test := range []struct {
		segment, path string
		ok, fails     bool
	}{
		{"eh30164596f40c0e5cbe991a83", "/01/09528765123457/21/123456789123", true, false},
		{"exMBZFlvQMDly-mRqD", "/01/09528765123457/21/123456789123", true, false},
		{"01", "", false, false},
		{"eh", "", true, true},
		{"ehxy", "", true, true},
		{"eh30", "", true, true},
		{"eh3116459", "", true, true},
		{"eh301e4596f40c0e5cbe991a83", "", true, true}, // partition 7
		{"eh" + strings.Repeat("30", 40), "", true, true},
	} {
		path, ok, err := digitallink.EPC(test.segment)
		if path != test.path || ok != test.ok || (err != nil) != test.fails {
			t.Errorf("%s: %q, %t, %v", test.segment, path, ok, err)
		}
		if path != "" {
			if _, err := digitallink.GS1().Parse(path, ""); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// A parsed identifier prints in normal form, which parses to itself, and so do its levels.
func FuzzParse(f *testing.F) {
	for _, path := range []string{
		"/01/09506000134352/22/2A/10/ABC%2F1/21/s.1", "/8013/1987654Ad4X4bL5ttr2310c2K",
		"/414/9521141123454/7040/1AAA",
	} {
		f.Add(path, "17=261200")
		f.Add(path, "11")
	}
	scheme := digitallink.GS1()
	f.Fuzz(func(t *testing.T, path, query string) {
		l, err := scheme.Parse(path, query)
		if err != nil {
			var failure *uri.ParseError
			if !errors.As(err, &failure) || failure.Offset > len(failure.Input) {
				t.Errorf("%q: %v", path, err)
			}
			return
		}
		for _, level := range append(l.Levels(), l) {
			again, err := scheme.Parse(level.Path(), "")
			if err != nil || again.Path() != level.Path() {
				t.Errorf("%q: level %s: %v", path, level.Path(), err)
			}
		}
	})
}
