package bulk

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk/foreign"
)

// seen returns the columns of all lines of an input, with their numbers.
func seen(t *testing.T, text string, format Format) (lines []string) {
	t.Helper()
	in, err := (&Import{Format: format, Mapping: map[string]string{"*": "-"}}).openInput(strings.NewReader(text))
	if err != nil {
		return nil
	}
	defer in.close()
	last := int64(0)
	for {
		b, err := in.next()
		if err != nil {
			return lines
		}
		b(func(l *line, input string, failure error) {
			if l.number <= last {
				t.Fatalf("line %d after line %d", l.number, last)
			}
			if failure == nil && !utf8.ValidString(input) {
				t.Fatalf("line %d is taken, and is not UTF-8: %q", l.number, input)
			}
			last = l.number
			lines = append(lines, fmt.Sprint(l.number, l.entry.Name, l.entry.Note, l.entry.Targets, failure))
		})
	}
}

// FuzzInput checks that any input makes lines with ascending numbers, without panic.
func FuzzInput(f *testing.F) {
	for _, text := range []string{
		"name,target\na,b\n", "name;note\n\"a\";\"b\"\"\r\nc\"\r\n", "name\tpriority\na\t7",
		"sep=|\nname|from\na|2031-05-01\n",
		`{"name":"a","targets":[{"uri":"b","priority":1},"c"],"metadata":{"a":[{}]}}` + "\n",
		`{"name":"\ud800","successors":["a"]}`, "name,note\na,\"b\nc,d\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []Format{Detect, CSV, TSV, NDJSON} {
			seen(t, text, format)
		}
	})
}

// FuzzMembers compares the members of objects with those that encoding/json decodes.
func FuzzMembers(f *testing.F) {
	f.Add(`{"a":"b\nc","d":[1,{"e":"]}"}], "f" : null,"g":-1.5e3}`)
	f.Add(`{"":true}`)
	f.Add(`{"a":1}{}`)
	f.Fuzz(func(t *testing.T, object string) {
		var want map[string]json.RawMessage
		failed := json.Unmarshal([]byte(object), &want)
		if want == nil && failed == nil {
			return // null
		}
		got := make(map[string]string)
		p := mapping{}
		d := jsontext.NewDecoder(strings.NewReader(object))
		err := members(d, func(name string) error {
			var s string
			isText := json.Unmarshal(want[name], &s) == nil && string(want[name]) != "null"
			if kind := d.PeekKind(); kind == '{' || kind == '[' {
				return d.SkipValue()
			}
			own, err := text(d)
			if err == nil && isText && own != s {
				t.Fatalf("%s is read as %q", want[name], own)
			}
			got[name] = own
			return err
		})
		if err == nil {
			for name := range got {
				if _, ok := want[name]; !ok && failed == nil {
					t.Fatalf("%q has %v, want %v", object, got, want)
				}
			}
		}
		var l line
		own := p.object(jsontext.NewDecoder(strings.NewReader(object)), &l)
		if failed != nil && own == nil {
			t.Fatalf("%q is read, encoding/json: %v", object, failed)
		}
		if err == nil && failed != nil && !strings.Contains(failed.Error(), "after top-level value") {
			t.Fatalf("%q: encoding/json: %v", object, failed)
		}
	})
}

// FuzzRecord checks that a record of the sort decodes to the encoded line.
func FuzzRecord(f *testing.F) {
	f.Add("name,prefix,version,changed,since,target,from,note\n",
		"a:b,yes,3,2031-05-01,2030-01-01,c,2029-01-01,\"d\ne\"\n")
	f.Add("name,status,metadata,authoritative,targets\n", "a:b,reserved,{},1,a b c\n")
	f.Fuzz(func(t *testing.T, head, body string) {
		in, err := (&Import{Format: CSV}).openInput(strings.NewReader(head + body))
		if err != nil {
			return
		}
		for {
			b, err := in.next()
			if err != nil {
				return
			}
			b(func(l *line, _ string, failure error) {
				if failure != nil || strings.ContainsRune(l.entry.Name, 0) {
					return
				}
				read, err := lineOf(appendRecord(nil, l))
				l.more = nil
				if len(l.entry.Targets) == 0 {
					l.entry.Targets = nil
				}
				if len(l.entry.Successors) == 0 {
					l.entry.Successors = nil
				}
				if err != nil || !reflect.DeepEqual(read, *l) {
					t.Fatalf("%+v was read as %+v, %v", *l, read, err)
				}
			})
		}
	})
}

// FuzzForeign checks that any input of a foreign format makes entries with nondecreasing line numbers,
// without panic.
func FuzzForeign(f *testing.F) {
	formats := []Format{Bioregistry, Handle, PURL, W3ID, Shlink, DNB, RewriteMap, Nginx, NOID, DataCite, YOURLS}
	samples, err := filepath.Glob("testdata/foreign/*")
	if err != nil || len(samples) == 0 {
		f.Fatal(err)
	}
	for _, path := range samples {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range formats {
			base := "https://a.example/b/"
			if traitsOf(format).base == refused {
				base = ""
			}
			in, err := (&Import{Format: format, Base: base}).openInput(strings.NewReader(text))
			if err != nil {
				continue
			}
			last := int64(0)
			for b, err := in.next(); err == nil; b, err = in.next() {
				b(func(l *line, input string, failure error) {
					if l.number < last || len(l.unmapped) > foreign.MaxUnmapped || len(input) > shown {
						t.Errorf("%s: entry %d after %d, %d lost, shown %d", format, l.number, last, len(l.unmapped),
							len(input))
					}
					last = l.number
					if failure != nil {
						return
					}
					if l.entry.Name == "" || strings.Contains(l.entry.Name, "#") {
						t.Errorf("%s: entry %d has the name %q and no failure", format, l.number, l.entry.Name)
					}
					if l.entry.Metadata != "" && !json.Valid([]byte(l.entry.Metadata)) {
						t.Errorf("%s: entry %d has the metadata %q", format, l.number, l.entry.Metadata)
					}
					if strings.ContainsRune(l.entry.Name, 0) {
						return // the registry rejects it
					}
					if read, err := lineOf(appendRecord(nil, l)); err != nil || read.source != l.source ||
						read.entry.Name != l.entry.Name {
						t.Errorf("%s: entry %d of %q is read as of %q, %v", format, l.number, l.source,
							read.source, err)
					}
				})
			}
			in.close()
		}
	})
}

// FuzzUniqueMembers compares the check of a text with the result of decoding, which replaces invalid
// characters by U+FFFD.
func FuzzUniqueMembers(f *testing.F) {
	for _, text := range []string{
		`"\ud800"`, `"\ud83d\ude00"`, `"\ud83d\u0041"`, `"\\ud800"`,
		`["\ufffd","\udc00\ud800"]`, "\"\xff\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var decoded string
		if json.Unmarshal([]byte(text), &decoded) != nil {
			return
		}
		escaped := strings.Count(strings.ToLower(strings.ReplaceAll(text, `\\`, "")), `\ufffd`)
		changed := strings.Count(decoded, "\ufffd") != escaped+strings.Count(text, "\ufffd")
		if err := registry.UniqueMembers([]byte(text)); changed && err == nil || !changed && err != nil {
			t.Errorf("%q is decoded as %q, and checked as %v", text, decoded, err)
		}
	})
}
