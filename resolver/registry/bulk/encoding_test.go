package bulk_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// sources are one name with the title Äiti in each format that has texts.
var sources = map[string]struct { //nolint:gochecknoglobals // a table of tests
	format bulk.Format
	base   string
	text   string
	fatal  bool // a single entry cannot be rejected
}{
	"CSV":           {bulk.CSV, "", "name,target,metadata.title\nurn:nbn:fi:a,https://a.example/1,Äiti\n", false},
	"TSV":           {bulk.TSV, "", "name\ttarget\tnote\nurn:nbn:fi:a\thttps://a.example/1\tÄiti\n", false},
	"CSV, left out": {bulk.CSV, "", "name,target,-\nurn:nbn:fi:a,https://a.example/1,Äiti\n", false},
	"NDJSON": {
		bulk.NDJSON, "",
		`{"name":"urn:nbn:fi:a","targets":["https://a.example/1"],"metadata":{"title":"Äiti"}}` + "\n", false,
	},
	"Shlink": {bulk.Shlink, "", "shortUrl,longUrl,title\nurn:nbn:fi:a,https://a.example/1,Äiti\n", false},
	"Shlink, JSON": {
		bulk.Shlink, "",
		`{"shortUrls":{"data":[{"shortUrl":"urn:nbn:fi:a","longUrl":"https://a.example/1","title":"Äiti"}]}}`, false,
	},
	"NOID": {
		bulk.NOID, "",
		"bind set urn:nbn:fi:a goto https://a.example/1\nbind set urn:nbn:fi:a title Äiti\n", false,
	},
	"EZID": {bulk.NOID, "", ":: urn:nbn:fi:a\n_target: https://a.example/1\nerc.who: Äiti\n", false},
	"handle": {
		bulk.Handle, "urn:nbn:",
		"CREATE fi:a\n1 URL 86400 1110 UTF8 https://a.example/1\n2 TITLE 86400 1110 UTF8 Äiti\n", false,
	},
	"handle, JSON": {
		bulk.Handle, "urn:nbn:",
		`{"responseCode":1,"handle":"fi:a","values":[{"index":1,"type":"URL","data":{"format":"string","value":"https://a.example/1"}},` +
			`{"index":2,"type":"TITLE","data":{"format":"string","value":"Äiti"}}]}`, false,
	},
	"DataCite": {
		bulk.DataCite, "urn:nbn:",
		`{"data":[{"id":"fi:a","attributes":{"doi":"fi:a","url":"https://a.example/1","titles":[{"title":"Äiti"}]}}]}`,
		false,
	},
	"DNB": {
		bulk.DNB, "",
		`{"items":[{"urn":"urn:nbn:fi:a","urls":[{"url":"https://a.example/1","priority":1}],"comment":"Äiti"}]}`,
		false,
	},
	"RewriteMap": {bulk.RewriteMap, "", "urn:nbn:fi:a https://a.example/1 # Äiti\n", false},
	"htaccess": {
		bulk.W3ID, "https://w3id.org/a/",
		"Redirect 302 /a/b https://a.example/1\nRedirect 302 /a/Äiti https://a.example/2\n", true,
	},
	"nginx": {bulk.Nginx, "https://a.example/", "rewrite ^/a$ https://a.example/1 redirect; # Äiti\n", true},
	"Bioregistry": {
		bulk.Bioregistry, "urn:example:", `{"a":{"name":"Äiti","uri_format":"https://a.example/$1"}}`,
		true,
	},
	"PURL": {
		bulk.PURL, "https://purl.example/",
		`<purls><purl id="/a" type="302"><maintainers><uid>Äiti</uid></maintainers><target url="https://a.example/1"/></purl></purls>`, true,
	},
	"epicur": {
		bulk.DNB, "",
		`<epicur><record><identifier scheme="urn:nbn:de">urn:nbn:fi:a</identifier><resource><identifier scheme="url">https://a.example/1</identifier>` +
			`<format scheme="imt">text/Äiti</format></resource></record></epicur>`, true,
	},
}

// Text is imported unchanged from any encoding, or rejected: nothing is replaced.
func TestEncodings(t *testing.T) {
	for name, c := range sources {
		t.Run(name, func(t *testing.T) {
			want := strings.Split(imports(t, c.format, c.base, "", c.text), "\n")
			if strings.Contains(want[0], "error") || strings.Contains(want[0], "rejected") {
				t.Fatalf("UTF-8: %s", want)
			}
			for _, e := range []struct {
				name, label string
				to          encoding.Encoding
			}{
				{"UTF-8 with a byte order mark", "", unicode.UTF8BOM},
				{"windows-1252", "windows-1252", charmap.Windows1252},
				{"UTF-16 by its mark", "", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)},
				{"UTF-16", "utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
			} {
				text, err := e.to.NewEncoder().String(c.text)
				if err != nil {
					t.Fatal(err)
				}
				if got := imports(t, c.format, c.base, e.label, text); got != strings.Join(want, "\n") {
					t.Errorf("%s makes %s, want %s", e.name, got, want)
				}
			}
			latin1, err := charmap.ISO8859_1.NewEncoder().String(c.text)
			if err != nil {
				t.Fatal(err)
			}
			got := imports(t, c.format, c.base, "", latin1)
			hint := "set the encoding of the source (--encoding), such as windows-1252"
			if strings.Contains(got, "\ufffd") || !strings.Contains(got, "(--encoding), such as windows-1252") ||
				c.fatal != strings.Contains(got, "error") ||
				!c.fatal && !strings.Contains(got, hint) {
				t.Errorf("Latin-1 read as UTF-8 gives %s", got)
			}
			if got := imports(t, c.format, c.base, "windows-1252",
				strings.ReplaceAll(c.text, "Ä", "\x81")); !strings.Contains(got, "valid in") {
				t.Errorf("bytes undefined in windows-1252 give %s", got)
			}
		})
	}
}

// imports returns the export of a text after its import.
func imports(t *testing.T, format bulk.Format, base, label, text string) string {
	t.Helper()
	of, err := charset.Parse(label)
	if err != nil {
		t.Fatal(err)
	}
	r := open(t)
	var rejected []string
	i := bulk.Import{
		Registry: r, Actor: admin, Format: format, Base: base, Encoding: of,
		Rejected: func(r bulk.Rejection) {
			rejected = append(rejected, fmt.Sprintf("rejected line %d: %v", r.Line, r.Reason))
		},
	}
	if _, err := i.Run(t.Context(), strings.NewReader(text)); err != nil {
		return "error: " + err.Error()
	}
	return summary(t, r) + strings.Join(rejected, "; ")
}

// An XML document is read in the encoding that it declares.
func TestDeclaredEncoding(t *testing.T) {
	const document = `<purl id="/a" type="302"><maintainers><uid>%s</uid></maintainers><target url="https://a.example/1"/></purl>`
	want := imports(t, bulk.PURL, "https://purl.example/", "", fmt.Sprintf(document, "Äiti"))
	got := imports(t, bulk.PURL, "https://purl.example/", "",
		`<?xml version="1.0" encoding="ISO-8859-1"?>`+fmt.Sprintf(document, "\xc4iti"))
	if got != want || !strings.Contains(got, "Äiti") {
		t.Errorf("there is %s, want %s", got, want)
	}
}

// Only invalid entries are rejected, with their line numbers.
func TestInvalidLines(t *testing.T) {
	for _, c := range []struct {
		name   string
		format bulk.Format
		base   string
		text   string
		want   string
		lines  string
	}{
		{
			"CSV", bulk.CSV, "",
			"name,target,note\nurn:nbn:fi:a,https://a.example/1,\nurn:nbn:fi:b,https://a.example/2,\"x\n\xe4\"\nurn:nbn:fi:c,https://a.example/3,\n", "a 1; c 3", "[3]",
		},
		{
			"NDJSON", bulk.NDJSON, "",
			"{\"name\":\"urn:nbn:fi:a\",\"target\":\"https://a.example/1\"}\n\n{\"name\":\"urn:nbn:fi:b\",\"\xe4\":1}\n", "a 1", "[3]",
		},
		{
			"a surrogate alone", bulk.NDJSON, "", `{"name":"urn:nbn:fi:a","target":"https://a.example/1","note":"\ud800"}`,
			"", "[1]",
		},
		{"a NUL", bulk.CSV, "", "name,target,metadata.x\nurn:nbn:fi:a,https://a.example/1,a\x00b\n", "", "[2]"},
		{
			"ANVL", bulk.NOID, "",
			":: urn:nbn:fi:a\n_t: https://a.example/1\n\n:: urn:nbn:fi:b\n_t: https://a.example/2\nwho: " +
				"\xc4iti\nwhat: \xc4\n\n:: urn:nbn:fi:c\n_t: https://a.example/3\n", "a 1; c 3", "[4]",
		},
		{"a comment before all", bulk.RewriteMap, "", "# \xc4\nurn:nbn:fi:a https://a.example/1\n", "a 1", "[1]"},
		{
			"a comment after all", bulk.RewriteMap, "",
			"urn:nbn:fi:a https://a.example/1\nurn:nbn:fi:b https://a.example/2\n\n# \xc4", "a 1", "[2]",
		},
		{"nothing but that", bulk.RewriteMap, "", "# \xc4\n", "", "[1]"},
		{
			"many", bulk.NOID, "", strings.Repeat(":: urn:nbn:fi:a\n_t: https://a.example/1\n\n", 200) +
				":: urn:nbn:fi:b\n_t: https://a.example/\xc4\n",
			"a 1", "[601]",
		},
		{
			"twice a member of JSON", bulk.Shlink, "",
			`[{"shortUrl":"urn:nbn:fi:a","longUrl":"https://a.example/1","title":"x","title":"y"},{"shortUrl":"urn:nbn:fi:b","longUrl":"https://a.example/2"}]`, "b 2", "[1]",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := open(t)
			_, rejected := imported(t, bulk.Import{Registry: r, Format: c.format, Base: c.base}, c.text)
			var lines []int64
			for _, one := range rejected {
				lines = append(lines, one.Line)
			}
			if got := strings.ReplaceAll(summary(t, r), "https://a.example/", ""); got != c.want ||
				fmt.Sprint(lines) != c.lines {
				t.Errorf("there is %q, want %q; rejected %v, want %s", got, c.want, rejected, c.lines)
			}
		})
	}
}

// No option is ignored: a format that does not support it returns an error.
func TestOptions(t *testing.T) {
	for _, format := range []bulk.Format{
		bulk.Detect, bulk.CSV, bulk.TSV, bulk.NDJSON, bulk.Bioregistry, bulk.DataCite, bulk.DNB, bulk.Handle,
		bulk.Nginx, bulk.NOID, bulk.PURL, bulk.RewriteMap, bulk.Shlink, bulk.W3ID, bulk.NginxMap, bulk.NAPTRZone,
	} {
		for _, c := range []struct {
			name  string
			of    bulk.Import
			taken string
			want  string
		}{
			{
				"nothing",
				bulk.Import{},
				" csv tsv ndjson bioregistry datacite dnb handle nginx noid rewritemap shlink ", "",
			},
			{
				"base",
				bulk.Import{Base: "https://a.example/"},
				"bioregistry datacite handle nginx noid purl rewritemap shlink w3id", "--base",
			},
			{"mapping", bulk.Import{Mapping: map[string]string{"a": "name"}}, " csv tsv ndjson ", "--map is"},
		} {
			c.of.Format = format
			taken := strings.Contains(" "+c.taken+" ", " "+string(format)+" ")
			if format == bulk.Detect {
				taken = c.name != "base"
			}
			err := c.of.CheckOptions()
			if (err == nil) != taken {
				t.Errorf("%s with %s: %v", format, c.name, err)
			}
			if err != nil && !strings.Contains(err.Error(), "--base") && !strings.Contains(err.Error(), c.want) &&
				!strings.Contains(err.Error(), "not an import format") {
				t.Errorf("%s with %s: %v", format, c.name, err)
			}
		}
	}
}

// Cells escaped for spreadsheets are restored; cells of other programs are taken literally.
func TestFormulasComeBack(t *testing.T) {
	const note = "'=HYPERLINK(1)"
	r := open(t)
	imported(t, bulk.Import{Registry: r},
		"name,target,contact,reason,metadata.x\nurn:nbn:fi:a,https://a.example/1,=1+1,,"+note+
			"\nurn:nbn:fi:b,https://a.example/2,'=1,,-1\n")
	want := exported(t, r, bulk.ExportOptions{})
	for _, format := range []bulk.Format{bulk.CSV, bulk.TSV} {
		for _, history := range []bool{false, true} {
			table := exported(t, r, bulk.ExportOptions{Format: format, History: history})
			if !strings.Contains(table, "'=1+1") || !strings.Contains(table, "''=1") {
				t.Errorf("%s has %s", format, table)
			}
			var streamed strings.Builder
			if err := bulk.ExportSearch(t.Context(), &streamed, r, registry.Search{}, format); err != nil ||
				!history && streamed.String() != table {
				t.Errorf("the API sends %s, %v, want %s", streamed.String(), err, table)
			}
			again := open(t)
			_, rejected := imported(t, bulk.Import{Registry: again, Format: format, Overwrite: true}, table)
			if got := exported(t, again, bulk.ExportOptions{}); len(rejected) > 0 ||
				withoutTimes(got) != withoutTimes(want) {
				t.Errorf("%s comes back as\n%s, want\n%s, rejected %v", format, got, want, rejected)
			}
		}
	}
	for line := range strings.Lines(want) {
		if strings.Contains(line, "fi:a") && !strings.Contains(line, `"x":"'=HYPERLINK(1)"`) {
			t.Errorf("the apostrophe of another program was lost: %s", line)
		}
	}
}

// withoutTimes returns an export without the times of its versions.
func withoutTimes(export string) string {
	lines := strings.Split(export, "\n")
	for i, line := range lines {
		for _, member := range []string{"since", "changed", "by"} {
			before, after, ok := strings.Cut(line, `"`+member+`":"`)
			if _, rest, found := strings.Cut(after, `"`); ok && found {
				line = before + rest
			}
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
