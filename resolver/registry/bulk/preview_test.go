package bulk_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

func TestPreviewTable(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		format     bulk.Format
		want       string
	}{
		{"commas", "a,b\n1,2\n3,4\n", bulk.CSV, `["a" "b"] [["1" "2"] ["3" "4"]]`},
		{"semicolons", "Urn;Link, long;\r\n1;2\r\n", bulk.Detect, `["Urn" "Link, long" ""] [["1" "2"]]`},
		{"tabs", "a\tb,c\n1\t2\n", bulk.TSV, `["a" "b,c"] [["1" "2"]]`},
		{"tabs, as CSV", "a\tb\n1\t2\n", bulk.CSV, `["a" "b"] [["1" "2"]]`},
		{"quoted names", "\"a,\"\"b\",\"c\nd\"\n1,2\n", bulk.CSV, `["a,\"b" "c\nd"] [["1" "2"]]`},
		{"sep=", "sep=|\r\na|b,c\n1|2\n", bulk.CSV, `["a" "b,c"] [["1" "2"]]`},
		{"empty lines", "\n \na,b\n\n1,2", bulk.CSV, `["a" "b"] [["1" "2"]]`},
		{"no end of line", "a,b", bulk.CSV, `["a" "b"] []`},
		{"rows of another length", "a,b\n1\n1,2,3\n", bulk.CSV, `["a" "b"] [["1"] ["1" "2"]]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := bulk.PreviewTable([]byte(tt.text), tt.format, 3)
			if got := fmt.Sprintf("%q %q", p.Columns, p.Rows); err != nil || got != tt.want {
				t.Errorf("%s, %v, want %s", got, err, tt.want)
			}
		})
	}
}

func TestPreviewOfNoTable(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "the input is empty",
		" \n\t\n":                        "the input is empty",
		"\"a,b\n1,2\n":                   "not closed",
		"\"a\"b,c\n":                     "quoted field is followed by text",
		strings.Repeat("a,", 200) + "b":  "201 columns",
		strings.Repeat("a,", 2000) + "b": "more than 2000 cells",
	} {
		if _, err := bulk.PreviewTable([]byte(text), bulk.CSV, 3); !errors.Is(err, registry.ErrInvalid) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
	}
}

// Decode returns UTF-8 from any encoding, or an error that names the problem.
func TestDecode(t *testing.T) {
	for _, c := range []struct{ text, label, want, failure string }{
		{"\ufeffname", "", "name", ""},
		{"\xff\xfen\x00\xe4\x00", "", "n\u00e4", ""},
		{"p\xe4", "latin1", "p\u00e4", ""},
		{"name,target\nurn:a:b,p\xe4\n", "", "", "line 2: the byte 0xE4 is not UTF-8: set the encoding"},
		{"a\n\x81", "windows-1252", "", "line 2: the input has bytes that are not valid in windows-1252"},
		{"\ufeffa", "windows-1252", "", "byte order mark of utf-8"},
		{"PK\x03\x04abc", "", "", "spreadsheet"},
		{"\x1f\x8babc", "", "", "compressed"},
		{"a,b\n\x00,c\n", "", "", "line 2: the input has a NUL byte"},
	} {
		of, err := charset.Parse(c.label)
		if err != nil {
			t.Fatal(err)
		}
		got, err := bulk.Decode([]byte(c.text), of)
		if c.failure == "" && (err != nil || string(got) != c.want) {
			t.Errorf("%q is %q, %v, want %q", c.text, got, err, c.want)
		}
		if c.failure != "" && (!errors.Is(err, registry.ErrInvalid) || !strings.Contains(err.Error(), c.failure)) {
			t.Errorf("%q: %v, want %s", c.text, err, c.failure)
		}
	}
}

// A table with renamed columns is imported unchanged, and line numbers in messages match the original file.
func TestRenamedColumns(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		columns    []string
		isData     bool
		want       string
		rejected   []int64
	}{
		{
			"plain", "Urn,Year,Link\nurn:nbn:fi:a,1999,https://a.example/1\nx,,\n",
			[]string{"name", "", "target"},
			false,
			"a https://a.example/1",
			[]int64{3},
		},
		{
			"names of several lines", "\n\"U,\nrn\",\"Link\"\r\nurn:nbn:fi:a,https://a.example/1\r\nx,\r\n",
			[]string{"name", "target"},
			false, "a https://a.example/1",
			[]int64{5},
		},
		{
			"sep=", "sep=|\nU|L\nurn:nbn:fi:a|https://a.example/1\nx|\n",
			[]string{"name", "target"},
			false,
			"a https://a.example/1",
			[]int64{4},
		},
		{
			"no names of columns", "urn:nbn:fi:a,https://a.example/1\nurn:nbn:fi:b,https://a.example/2\nx,\n",
			[]string{"name", "target"},
			true, "a https://a.example/1; b https://a.example/2",
			[]int64{4},
		},
		{"no end of line", "Urn,Link", []string{"name", "target"}, false, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := []byte(tt.text)
			p, err := bulk.PreviewTable(text, bulk.CSV, 1)
			if err != nil {
				t.Fatal(err)
			}
			head, end := p.RenameColumns(tt.columns, tt.isData, text)
			r := open(t)
			_, rejected := imported(t, bulk.Import{Registry: r, Format: bulk.CSV}, string(head)+tt.text[end:])
			var lines []int64
			for _, one := range rejected {
				lines = append(lines, one.Line)
			}
			if got := summary(t, r); got != tt.want || !slices.Equal(lines, tt.rejected) {
				t.Errorf("there is %q, want %q; rejected %v, want %v, of %q", got, tt.want, rejected, tt.rejected, head)
			}
		})
	}
}

func TestColumnNamed(t *testing.T) {
	for name, want := range map[string]string{
		"URN": "name", " Target 2": "target2", "if-version": "if_version", "url": "target", "Language_3": "language3",
		"-": "", "year": "", "": "",
	} {
		if got := bulk.FindColumn(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	own, ofTargets := bulk.Columns()
	for _, name := range append(own, ofTargets...) {
		if bulk.FindColumn(name) != name {
			t.Errorf("%q is not one of our columns", name)
		}
	}
}

// Any mapping is read as it was previewed: with as many columns, and without panic.
func FuzzPreviewTable(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n", "sep=;\na;b\n", "\"a\nb\",c\n\n1", "a\tb\r\n\r\n\"", "\n\n",
		"sep=\"\na\"b\n", "a\",\"b\n", "metadata.x,,\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := bulk.PreviewTable([]byte(text), bulk.CSV, 3)
		if err != nil {
			if !errors.Is(err, registry.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		columns := make([]string, max(len(p.Columns), 2))
		columns[0], columns[1] = "name", "target"
		for _, isData := range []bool{false, true} {
			head, end := p.RenameColumns(columns, isData, []byte(text))
			again, err := bulk.PreviewTable(append(head, text[end:]...), bulk.CSV, 3)
			if err != nil || !slices.Equal(again.Columns, columns) || !isData && len(again.Rows) != len(p.Rows) {
				t.Fatalf("%q is read again as %q %q, %v, want %q", string(head)+text[end:], again.Columns, again.Rows,
					err, p.Rows)
			}
		}
	})
}
