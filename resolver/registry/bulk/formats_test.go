package bulk_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// summary returns one short line per entry.
func summary(t *testing.T, r *registry.Registry) string {
	t.Helper()
	var lines []string
	for _, kind := range []registry.Kind{registry.KindPrefix, registry.KindName} {
		entries, err := r.List(t.Context(), kind, "", "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			words := []string{strings.TrimPrefix(e.String(), "urn:nbn:fi:")}
			if e.Status != registry.Active {
				words = append(words, e.Status.String()+" "+e.Reason+" "+strings.Join(e.Successors, "+"))
			}
			if e.Alias != "" {
				words = append(words, "= "+e.Alias)
			}
			for _, target := range e.Targets {
				words = append(words, strings.TrimPrefix(target.URI, "https://example.org/")+target.Type+
					target.Language+target.Note)
				if target.Priority != 0 {
					words = append(words, fmt.Sprint(target.Priority))
				}
			}
			for _, word := range []string{e.Metadata, e.Contact, e.Note} {
				if word != "" {
					words = append(words, word)
				}
			}
			if e.Redirect != 0 {
				words = append(words, fmt.Sprint(e.Redirect))
			}
			if e.Authoritative {
				words = append(words, "authoritative")
			}
			if e.Sandbox {
				words = append(words, "sandbox")
			}
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return strings.Join(lines, "; ")
}

// TestFormats is a table of inputs, the resulting entries, and the rejected lines. Names begin with N,
// targets with T.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		name, text, want, rejected string
		mapping                    map[string]string
	}{
		{name: "the simplest", text: "name,target\nNa,T1\n", want: "a 1"},
		{name: "without a last line feed", text: "name,target\nNa,T1", want: "a 1"},
		{name: "byte order mark and CRLF", text: "\ufeffname,target\r\nNa,T1\r\n\r\nNb,T2\r\n", want: "a 1; b 2"},
		{name: "semicolons", text: "Name;URL\nNa;T1,5\n", want: "a 1,5"},
		{name: "tabs", text: "name\ttarget\nNa\tT1\n", want: "a 1"},
		{name: "as Excel says", text: "sep=|\nname|target\nNa|T1\n", want: "a 1"},
		{
			name: "quoted", text: "name,target,note\n\"Na\",\"T1\",\"one \"\"two\"\",\nthree\"\nNb,T2, 5\" disk\n",
			want: "a 1 one \"two\",\nthree; b 2 5\" disk",
		},
		{
			name: "several lines", text: "name,target,type\nNa,T1,text/html\nNb,T3,\nNa,T2,\nNa,T1,text/html\n",
			want: "a 1text/html 2; b 3",
		},
		{
			name: "several columns", text: "name,target,priority,target2,language_2,target_3\nNa,T1,7,T2,fi,\n",
			want: "a 1 7 2fi",
		},
		{name: "column of targets", text: "name,targets,target\nNa,T2 T3,T1\n", want: "a 1 2 3"},
		{
			name: "status",
			text: "name,status,reason,successors,target\nNa,withdrawn,merged,Nb Nc,T1\nNb,Reserved,,,\nNc,,,,T2\n",
			want: "a withdrawn merged urn:nbn:fi:b+urn:nbn:fi:c 1; b reserved  ; c 2",
		},
		{
			name: "prefixes after names",
			text: "name,prefix,target,sandbox,authoritative\nNp:a,,T1,,\n,Np:,Tp/,yes,x\nNq:,true,Tq/,,\n",
			want: "p:* p/ authoritative sandbox; q:* q/; p:a 1 sandbox",
		},
		{
			name: "aliases before their names", text: "name,alias,target\nNa,Nz,\nNz,,T1\n",
			want: "a = urn:nbn:fi:z; z 1",
		},
		{name: "aliases in a circle", text: "name,alias\nNa,Nb\nNb,Na\n", want: "a = urn:nbn:fi:b", rejected: "3"},
		{
			name: "statuses of redirects",
			text: "name,target,redirect\nNa,T1,301\nNb,T2,\nNc,T3,304\nNd,T4,307\nNd,T5,308\n",
			want: "a 1 301; b 2; d 4 307", rejected: "4 6",
		},
		{
			name: "contradiction", text: "name,contact,target\nNa,anna,T1\nNa,bo,T2\nNa,,T3\n", want: "a 1 3 anna",
			rejected: "3",
		},
		{
			name: "bad lines",
			text: "name,target,priority\nNa,T1,1\nurn:x,T1,\nNb,javascript:1,\nNc,T1,high\nNd,T1,1,more\n,T1,\n,,\nNe,,3\nNf,T6,\n",
			want: "a 1 1; f 6", rejected: "3 4 5 6 7 9",
		},
		{
			name: "bad quotation marks", text: "name,target\nNa,\"T1\"x\nNb,T2\nNc,\"T3\nNd,T4\n", want: "b 2; d 4",
			rejected: "2 4",
		},
		{
			name: "mapping", text: "URN,Link,Titel\nNa,T1,x\n", want: "a 1",
			mapping: map[string]string{"URN": "name", "Link": "target", "*": "-"},
		},
		{name: "one left out", text: "urn,url,Titel\nNa,T1,x\n", want: "a 1", mapping: map[string]string{"Titel": "-"}},
		{
			name: "JSON",
			text: `{"name":"Na","targets":[{"uri":"T1","type":"text/html","priority":3,"note":"n"},"T2"],"metadata":{ "a": [1] },"contact":"é\n\"x\""}` + "\n\n" + `{"name":"Np:","prefix":true,"target":"Tp/","authoritative":true}`,
			want: "p:* p/ authoritative; a 1text/htmln 3 2 {\"a\":[1]} é\n\"x\"",
		},
		{
			name: "bad JSON",
			text: `{"name":"Na","target":"T1"}` + "\n{\n[]\n{\"name\":\"Nb\",\"traget\":\"T1\"}\n" +
				`{"name":"Nb","name":"Nc"}` + "\n" + `{"name":"Nb","targets":[{"type":"a/b"}]}` + "\n" +
				`{"name":"Nb","targets":[{"uri":"T1","name":"x"}]}` + "\n" + `{"name":["x"]}`,
			want: "a 1", rejected: "2 3 4 5 6 7 8",
		},
		{
			name: "mapped JSON", text: `{"id":"Na","url":"T1","year":1999}`, want: "a 1",
			mapping: map[string]string{"id": "name", "*": "-"},
		},
		{
			name: "dates",
			text: "name,target,from,until\nNa,T1,2031-05-01,2032-01-01T00:00:00+02:00\nNb,T2,1.5.2031,\nNc,T3,2032-01-01,2031-01-01\n",
			want: "a 1", rejected: "3 4",
		},
		{
			name: "history",
			text: "name,version,changed,by,note,target\nNa,2,2020-01-02,bo,moved,T2\nNa,1,2020-01-01,bo,,T1\nNb,3,2020-01-01,bo,,T1\nNc,1,,bo,,T1\nNd,1,2099-01-01,bo,,T1\n",
			want: "a 2 moved", rejected: "5 4 6",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := c.text
			for _, from := range []string{"", "\"", ",", ";", "\t", "|", "\n", " "} {
				for short, long := range map[string]string{"N": "urn:nbn:fi:", "T": "https://example.org/"} {
					if from == "" && strings.HasPrefix(text, short) {
						continue
					}
					for _, letter := range "abcdefpqz123456" {
						text = strings.ReplaceAll(text, from+short+string(letter), from+long+string(letter))
					}
				}
			}
			r := open(t)
			_, rejected := imported(t, bulk.Import{Registry: r, Mapping: c.mapping}, text)
			var numbers []string
			for _, rejection := range rejected {
				numbers = append(numbers, fmt.Sprint(rejection.Line))
			}
			if got := summary(t, r); got != c.want {
				t.Errorf("%q made\n%s, want\n%s; rejected %v", text, got, c.want, rejected)
			}
			if got := strings.Join(numbers, " "); got != c.rejected {
				t.Errorf("rejected are %s, want %s: %v", got, c.rejected, rejected)
			}
		})
	}
}

// Input that is unreadable as a whole is an error.
func TestUnreadable(t *testing.T) {
	for _, c := range []struct {
		text   string
		format bulk.Format
		want   string
	}{
		{"", "", "the input is empty"},
		{"\n\n", "csv", "the input is empty"},
		{"urn:nbn:fi:a,https://example.org/\n", "", "the first line must have the column names"},
		{"name,traget\n", "", "unknown columns traget"},
		{"target\n", "", "no column for the name"},
		{"{\"name\":\"urn:nbn:fi:a\"}\n", bulk.CSV, "the input looks like NDJSON, but was read as csv"},
		{"name,target,target\n", "", "duplicate column for the target"},
		{"\xff\xfe\x00\x00n\x00\x00\x00", "", "utf-32le, which is not supported"},
		{"n\xe4me,target\n", "", "column names: the byte 0xE4 is not UTF-8: set the encoding"},
		{"\x1f\x8b\x08", "", "decompressing"},
		{"name\n", bulk.NginxMap, "not an import format"},
		{"[]", bulk.Bioregistry, "not a registry.json"},
		{strings.Repeat("x", 2<<20), bulk.CSV, "column names: it has more than"},
	} {
		i := bulk.Import{Registry: open(t), Actor: admin, Format: c.format}
		if _, err := i.Run(t.Context(), strings.NewReader(c.text)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %s", c.text, err, c.want)
		}
	}
}

// Fields that a file omits keep their values: a second import neither reactivates a withdrawn name nor
// removes its contact.
func TestUnreported(t *testing.T) {
	r := open(t)
	for _, step := range []struct{ text, want string }{
		{"name,target,contact\nurn:nbn:fi:a,https://example.org/1,anna\n", "a 1 anna"},
		{"name,status,reason\nurn:nbn:fi:a,withdrawn,old\n", "a withdrawn old  1 anna"},
		{"name,target\nurn:nbn:fi:a,https://example.org/2\n", "a withdrawn old  2 anna"},
		{"name,status,target\nurn:nbn:fi:a,,https://example.org/1\n", "a withdrawn old  1 anna"},
		{"name,status,contact\nurn:nbn:fi:a,active,\n", "a 1"},
		{"name,alias\nurn:nbn:fi:a,urn:nbn:fi:b\n", "a = urn:nbn:fi:b"},
		{`{"name":"urn:nbn:fi:a","targets":[{"uri":"https://example.org/3"}],"note":"back"}`, "a 3 back"},
	} {
		if _, rejected := imported(t, bulk.Import{Registry: r, Overwrite: true}, step.text); len(rejected) > 0 {
			t.Errorf("%s: %v", step.text, rejected)
		}
		if got := summary(t, r); got != step.want {
			t.Errorf("after %q there is %s, want %s", step.text, got, step.want)
		}
	}
}

func TestCompressed(t *testing.T) {
	text := many(3000)
	want := ""
	for name, compress := range map[string]func(w *bytes.Buffer){
		"plain": func(w *bytes.Buffer) { w.WriteString(text) },
		"gzip": func(w *bytes.Buffer) {
			z := gzip.NewWriter(w)
			fmt.Fprint(z, text[:5000])
			z.Close()
			z.Reset(w) // a second member
			fmt.Fprint(z, text[5000:])
			z.Close()
		},
		"zstd": func(w *bytes.Buffer) {
			z, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(z, text)
			z.Close()
		},
	} {
		var b bytes.Buffer
		compress(&b)
		r := open(t)
		i := bulk.Import{Registry: r, Actor: admin}
		if _, err := i.Run(t.Context(), iotest.HalfReader(&b)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := exported(t, r, bulk.ExportOptions{})
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(want))
		}
	}
}

// An oversized line is rejected alone, even if it comes from a decompression bomb.
func TestLongLine(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprint(z, "name,target\nurn:nbn:fi:a,https://example.org/1\nurn:nbn:fi:b,")
	for range 64 {
		fmt.Fprint(z, strings.Repeat("x", 1<<20))
	}
	fmt.Fprint(z, "\nurn:nbn:fi:c,https://example.org/3\n")
	z.Close()
	var rejected []int64
	r := open(t)
	i := bulk.Import{
		Registry: r, Actor: admin,
		Rejected: func(r bulk.Rejection) { rejected = append(rejected, r.Line) },
	}
	if _, err := i.Run(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if got := summary(t, r); got != "a 1; c 3" || fmt.Sprint(rejected) != "[3]" {
		t.Errorf("there is %s; rejected %v", got, rejected)
	}
}

func TestBioregistry(t *testing.T) {
	text := `{"chebi":{"name":"ChEBI","uri_format":"https://www.ebi.ac.uk/chebi/searchId.do?chebiId=CHEBI:$1","providers":[{"code":"x","uri_format":"https://x.example/{a}/$1.html"}]},
		"3dmet":{"uri_format":"https://example.org/$1"},"none":{"deprecated":true}}`
	r := open(t)
	_, rejected := imported(t, bulk.Import{Registry: r, Format: bulk.Bioregistry}, text)
	want := `chebi:* https://www.ebi.ac.uk/chebi/searchId.do?chebiId=CHEBI: https://x.example/%7Ba%7D/{+suffix}.html {"title":"ChEBI"}`
	if got := summary(t, r); got != want || len(rejected) != 2 || rejected[0].Line != 2 || rejected[1].Line != 3 {
		t.Errorf("there is %s, want %s; rejected %v", got, want, rejected)
	}
	r = open(t)
	_, rejected = imported(t, bulk.Import{Registry: r, Format: bulk.Bioregistry, Base: "urn:example:"}, text)
	if got := summary(t, r); strings.Count(got, "urn:example:") != 2 || len(rejected) != 1 {
		t.Errorf("with a base there is %s; rejected %v", got, rejected)
	}
}

// An actor restricted to prefixes imports only names below them, and no full versions.
func TestActor(t *testing.T) {
	r := open(t)
	writer := registry.Actor{Name: "bo", Role: registry.Writer, Prefixes: []string{"urn:nbn:fi:a"}}
	text := "name,prefix,changed,target\nurn:nbn:fi:a1,,,https://example.org/1\nurn:nbn:fi:b,,,https://example.org/2\nurn:nbn:fi:a:,yes,,https://example.org/3\nurn:nbn:fi:a2,,2020-01-01,https://example.org/4\n"
	_, rejected := imported(t, bulk.Import{Registry: r, Actor: writer}, text)
	if got := summary(t, r); got != "a1 1" || len(rejected) != 3 {
		t.Errorf("there is %s; rejected %v", got, rejected)
	}
}

func TestDryRun(t *testing.T) {
	r := open(t)
	imported(t, bulk.Import{Registry: r},
		"name,target\nurn:nbn:fi:a,https://example.org/1\nurn:nbn:fi:b,https://example.org/2\n")
	before := exported(t, r, bulk.ExportOptions{History: true})
	report, rejected := imported(t, bulk.Import{Registry: r, DryRun: true, Overwrite: true, Source: "x"},
		"name,target\nurn:nbn:fi:a,https://example.org/1\nurn:nbn:fi:b,https://example.org/3\nurn:nbn:fi:c,https://example.org/4\nx,\n")
	if numbersOf(report) != (numbers{New: 1, Changed: 1, Unchanged: 1, Rejected: 1}) || len(rejected) != 1 {
		t.Errorf("the report is %+v", report)
	}
	if after := exported(t, r, bulk.ExportOptions{History: true}); after != before {
		t.Errorf("there is %s, before %s", after, before)
	}
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]bulk.Format{
		"a.csv": bulk.CSV, "a.CSV.gz": bulk.CSV, "a.tsv.zst": bulk.TSV, "/x.csv/a.ndjson": bulk.NDJSON,
		"a.jsonl.zstd": bulk.NDJSON, "a.json": bulk.Detect, "-": bulk.Detect,
	} {
		if got := bulk.FormatOf(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// A sandbox version cannot follow a version outside a sandbox: the name could be purged then.
func TestSandboxStaysOutside(t *testing.T) {
	r := open(t)
	const first = `{"name":"urn:nbn:fi:a","targets":["https://example.org/"]}` + "\n"
	if _, rejected := imported(t, bulk.Import{Registry: r, Format: bulk.NDJSON}, first); len(rejected) > 0 {
		t.Fatal(rejected)
	}
	const next = `{"name":"urn:nbn:fi:a","version":2,"changed":"%s","sandbox":true}` + "\n"
	text := fmt.Sprintf(next, r.Now().Format(time.RFC3339Nano))
	if _, rejected := imported(t, bulk.Import{Registry: r, Format: bulk.NDJSON}, text); len(rejected) != 1 {
		t.Errorf("rejected were %v", rejected)
	}
	if n, err := r.Purge(t.Context(), admin, "urn:nbn:fi:", ""); n != 0 || err != nil {
		t.Errorf("purged %d, %v", n, err)
	}
}
