package represent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/proxy/answer/represent/representtest"
)

// Each format of a work with all fields set, and of a withdrawn name.
func TestForms(t *testing.T) {
	for _, tt := range []struct {
		format string
		work   represent.Work
		want   string
	}{
		{
			"csl", representtest.Full(),
			`{"id":"https://resolver.example.org/urn:nbn:fi-fe1","type":"book","title":"Kalevala",` +
				`"author":[{"family":"Lönnrot","given":"Elias"},{"literal":"SKS"},{"literal":"The people"}],"publisher":"J. C. Frenckell",` +
				`"issued":{"date-parts":[[1849,5,2]]},"abstract":"An epic.","keyword":"epic, Finland","language":"fi",` +
				`"URL":"https://resolver.example.org/urn:nbn:fi-fe1"}`,
		},
		{
			"csl", representtest.Gone(),
			`{"id":"https://r.example/ark:12345/x1","type":"document","title":"A","status":"withdrawn",` +
				`"note":"withdrawn since 2026-01-02: a new edition","URL":"https://r.example/ark:12345/x1"}`,
		},
		{"bibtex", representtest.Full(), `@misc{https://resolver.example.org/urn:nbn:fi-fe1,
  author = {Lönnrot, Elias and {SKS} and {The people}},
  title = {Kalevala},
  publisher = {J. C. Frenckell},
  year = {1849},
  date = {1849-05-02},
  month = may,
  abstract = {An epic.},
  keywords = {epic, Finland},
  language = {fi},
  eprint = {urn:nbn:fi-fe1},
  eprinttype = {urn},
  url = {https://resolver.example.org/urn:nbn:fi-fe1}
}
`},
		{
			"bibtex",
			represent.Work{Name: "urn:doi:10.5072/a_b", Metadata: represent.Metadata{Title: `\{}%&#_~^$`}},
			`@misc{urn:doi:10.5072/a-b,
  title = {\textbackslash{}\textbraceleft{}\textbraceright{}\%\&\#\_\textasciitilde{}\textasciicircum{}\$},
  doi = {10.5072/a_b}
}
`,
		},
		{
			"ris", representtest.Full(),
			"TY  - BOOK\r\nTI  - Kalevala\r\nAU  - Lönnrot, Elias\r\nAU  - SKS\r\nAU  - The people\r\nPY  - " +
				"1849\r\nDA  - 1849/05/02/\r\n" +
				"PB  - J. C. Frenckell\r\nAB  - An epic.\r\nKW  - epic\r\nKW  - Finland\r\nLA  - fi\r\nID  - " +
				"urn:nbn:fi-fe1\r\n" +
				"UR  - https://resolver.example.org/urn:nbn:fi-fe1\r\nER  - \r\n",
		},
		{
			"ris",
			represent.Work{Name: "urn:doi:10.5072/a", Metadata: represent.Metadata{Issued: "1849"}},
			"TY  - GEN\r\nTI  - urn:doi:10.5072/a\r\nPY  - 1849\r\nDA  - 1849///\r\nID  - urn:doi:10.5072/a\r\nDO  " +
				"- 10.5072/a\r\nER  - \r\n",
		},
		{
			"citation", representtest.Full(),
			"Lönnrot, Elias; SKS; The people (1849): Kalevala. J. C. Frenckell. " +
				"https://resolver.example.org/urn:nbn:fi-fe1\n",
		},
		{
			"citation", representtest.Gone(),
			"A. Withdrawn since 2026-01-02: a new edition. https://r.example/ark:12345/x1\n",
		},
		{"citation", represent.Work{Name: "urn:isbn:1"}, "urn:isbn:1.\n"},
		{
			"erc", representtest.Full(),
			"erc:\nwho: Lönnrot, Elias; SKS; The people\nwhat: Kalevala\nwhen: 18490502\nwhere: urn:nbn:fi-fe1\n\n" +
				"erc-support:\nwho: A library\nwhat: Permanent: Stable Content:\nwhen: 20261101\nwhere: " +
				"https://a.example/policy\n",
		},
		{"erc", representtest.Gone(), "erc:\nwho: (:unkn)\nwhat: A\nwhen: (:unkn)\nwhere: ark:12345/x1\n" +
			"note: withdrawn since 20260102: a new edition\nnote: succeeded by ark:12345/x2\n"},
		{
			"erc",
			represent.Work{
				Name: "ark:12345/a%20b", Metadata: represent.Metadata{Title: "100% a%0Ab"},
				Support: &represent.Support{},
			},
			"erc:\nwho: (:unkn)\nwhat: 100% a%250Ab\nwhen: (:unkn)\nwhere: ark:12345/a%20b\n\n" +
				"erc-support:\nwho: (:unkn)\nwhat: (:unkn)\nwhen: (:unkn)\nwhere: (:unkn)\n",
		},
	} {
		formats := represent.Formats()
		f := formats[slices.IndexFunc(formats, func(f represent.Format) bool { return f.Name == tt.format })]
		got := string(f.Write(tt.work))
		if tt.format == "csl" {
			var b bytes.Buffer
			if err := json.Compact(&b, []byte(got)); err != nil {
				t.Error(err)
			}
			got = b.String()
		}
		if got != tt.want {
			t.Errorf("%s of %s:\n%s\nwant\n%s", tt.format, tt.work.Name, got, tt.want)
		}
	}
}

// Each format has a name and media types of its own.
func TestFormats(t *testing.T) {
	var names []string
	formatOf := make(map[string]string)
	for _, f := range represent.Formats() {
		for _, mediaType := range append([]string{f.MediaType}, f.Also...) {
			if other, ok := formatOf[mediaType]; ok && mediaType != "" {
				t.Errorf("%q is of %s and %s", mediaType, other, f.Name)
			}
			formatOf[mediaType] = f.Name
		}
		names = append(names, f.Name)
	}
	if want := "jsonld turtle csl bibtex ris citation erc"; strings.Join(names, " ") != want {
		t.Errorf("%s, want %s", names, want)
	}
}

var (
	risLine  = regexp.MustCompile(`^[A-Z][A-Z0-9]  - [^\r\n]*$`)
	bibField = regexp.MustCompile(`^  ([a-z]+) = (\{.*\}|[a-z]{3}),?$`)
	ercLine  = regexp.MustCompile(`^(who|what|when|where|note): [^ ].*$`)
)

// checkForms returns a syntax error in the formats of a work.
func checkForms(w represent.Work) error {
	if !json.Valid(represent.CSL(w)) {
		return fmt.Errorf("CSL: %s", represent.CSL(w))
	}
	for _, f := range represent.Formats() {
		text := f.Write(w)
		if !bytes.Equal(text, f.Write(w)) {
			return fmt.Errorf("%s differs", f.Name)
		}
		if i := bytes.IndexFunc(text,
			func(r rune) bool {
				return r < ' ' && r != '\n' && r != '\r' || r == 0x7f || r == 0x85 ||
					r == 0x2028
			}); i >= 0 {
			return fmt.Errorf("%s has a control character: %q", f.Name, text[i:])
		}
		if f.Name != "ris" && bytes.ContainsRune(text, '\r') {
			return fmt.Errorf("%s: %q", f.Name, text)
		}
	}
	if cited := represent.Citation(w); bytes.Count(cited, []byte("\n")) != 1 {
		return fmt.Errorf("citation: %q", cited)
	}
	if err := checkRIS(string(represent.RIS(w))); err != nil {
		return err
	}
	if err := checkBibTeX(string(represent.BibTeX(w))); err != nil {
		return err
	}
	return checkERC(string(represent.ERC(w)), w.Support != nil)
}

func checkRIS(text string) error {
	rows := strings.Split(text, "\r\n")
	for i, row := range rows[:len(rows)-1] {
		isEnd := strings.HasPrefix(row, "ER")
		if !risLine.MatchString(row) || strings.HasPrefix(row, "TY") != (i == 0) || isEnd != (i == len(rows)-2) {
			return fmt.Errorf("RIS: %q", text)
		}
	}
	if rows[len(rows)-1] != "" {
		return fmt.Errorf("RIS: %q", text)
	}
	return nil
}

// checkBibTeX counts braces like BibTeX, in which a backslash is no escape.
func checkBibTeX(text string) error {
	rows := strings.Split(strings.TrimSuffix(text, "\n}\n"), "\n")
	if !regexp.MustCompile(`^@misc\{[A-Za-z0-9:./-]+,?$`).MatchString(rows[0]) {
		return fmt.Errorf("BibTeX: %q", rows[0])
	}
	var fields []string
	for _, row := range rows[1:] {
		match := bibField.FindStringSubmatch(row)
		if match == nil || slices.Contains(fields, match[1]) {
			return fmt.Errorf("BibTeX: %q", row)
		}
		fields = append(fields, match[1])
		depth := 0
		for i, c := range match[2] {
			switch c {
			case '{':
				depth++
			case '}':
				depth--
			}
			if last := i == len(match[2])-1; depth < 0 || match[2][0] == '{' && (depth == 0) != last {
				return fmt.Errorf("BibTeX: braces of %q", row)
			}
		}
	}
	return nil
}

func checkERC(text string, supported bool) error {
	records := strings.Split(strings.TrimSuffix(text, "\n"), "\n\n")
	if len(records) != 1 && !supported || len(records) != 2 && supported {
		return fmt.Errorf("ERC: %q", text)
	}
	for i, record := range records {
		rows := strings.Split(record, "\n")
		if rows[0] != []string{"erc:", "erc-support:"}[i] || len(rows) < 5 {
			return fmt.Errorf("ERC: %q", record)
		}
		for _, row := range rows[1:] {
			if !ercLine.MatchString(row) {
				return fmt.Errorf("ERC: %q", row)
			}
		}
	}
	return nil
}

func TestHostileForms(t *testing.T) {
	for _, text := range []string{
		"a\r\nER  - \r\nTY  - BOOK", "a\n\nerc:\nwho: me", "} }\n@book{x,", "a and b", "\\", "\\{", "{", "}}", "%0A",
		"\u2028", "\u0085x", "\x00",
		strings.Repeat("é", 40000),
		"2026-11-26\r\n", "Person", "withdrawn", "urn:x1:a%0D%0Ab", "https://a.example/{}\\", ",", "a, ", "doi:10.1/}",
	} {
		w := representtest.Hostile(text)
		if err := checkForms(w); err != nil {
			t.Errorf("%.80q: %v", text, err)
		}
		w.Status = represent.Withdrawn
		if err := checkForms(w); err != nil {
			t.Errorf("%.80q: %v", text, err)
		}
	}
}
