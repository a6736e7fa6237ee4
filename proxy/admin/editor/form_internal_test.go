package editor

import (
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry/field"
)

// english returns the writer of pages in English.
func english() pages.Writer { return plain().In(pages.English) }

var plain = sync.OnceValue(func() *pages.Design { return pages.New(pages.Site{}) })

// sent returns a form as a browser submits it: lines end with CR LF.
func sent(f *nameForm) url.Values {
	values := make(url.Values)
	for _, in := range f.hidden() {
		values.Set(in[0], strings.ReplaceAll(in[1], "\n", "\r\n"))
	}
	return values
}

// again returns the document of the unmodified form of a document.
func again(t *testing.T, d document, isPrefix bool) document {
	t.Helper()
	made, wrong := typed(sent(formOf(d))).document(english(), subject{Name: "urn:nbn:fi:a", IsPrefix: isPrefix}, d)
	if wrong != nil {
		t.Fatalf("%v", wrong)
	}
	return made
}

// A form preserves a document, including members without form fields.
func TestFormOfDocument(t *testing.T) {
	for _, text := range []string{
		`{"status":"active","targets":[]}`,
		`{"status":"reserved","targets":[],"contact":"a"}`,
		`{"status":"withdrawn","reason":"a\nb","successors":["urn:nbn:fi:b","https://c.example/"],"targets":[{"uri":"https://a.example/"}]}`,
		`{"status":"active","targets":[],"alias":"urn:nbn:fi:b"}`,
		`{"status":"active","targets":[{"uri":"https://a.example/","type":"text/html","language":"fi","title":"T","rel":"item","priority":-3,"from":"2030-01-01T00:00:00.123Z","until":"2031-01-01T00:00:00Z","context":"FI","note":"a\nb","later":{"a":[1]}}],"redirect":303,"sandbox":true,"later":[1,"<&>"]}`,
		`{"status":"active","targets":[{"uri":"a:"},{"uri":"b:","later":1},{"uri":"a:"}],"metadata":{"title":"<b>&","tags":["a","b"],"n":1.10}}`,
		`{"status":"active","targets":[],"pattern":"[0-9]+","authoritative":true,"metadata":{"tags":[],"title":" x"}}`,
		`{"status":"active","targets":[],"metadata":{}}`,
		`{"status":"active","targets":[],"metadata":{"title":"","tags":["a\nb"]}}`,
		`{"status":"active","targets":[],"metadata":{"a":{"title":"b"},"title":{"de":"c"},"tags":"d"}}`,
	} {
		var d document
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		made, err := field.Marshal(again(t, d, true))
		want, _ := field.Marshal(d)
		if err != nil || !field.SameJSON(made, want) {
			t.Errorf("%s came back as %s, %v", text, made, err)
		}
		if metadata := d["metadata"]; string(again(t, d, true)["metadata"]) != string(metadata) {
			t.Errorf("the metadata of %s is written in another way", text)
		}
	}
}

func TestMerged(t *testing.T) {
	for _, tt := range []struct{ base, mine, theirs, want string }{
		{`{}`, `{}`, `{}`, `{}`},
		{`{"a":1}`, `{"a":2}`, `{"a":1}`, `{"a":2}`},
		{`{"a":1}`, `{"a":1}`, `{"a":2}`, `{"a":2}`},
		{`{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":2}`},
		{`{"a":1,"b":1}`, `{"b":1}`, `{"a":1}`, `{}`},
		{`{"a":1}`, `{}`, `{"a":2}`, `{}`},
		{`{"a":1}`, `{"a":2}`, `{}`, `{"a":2}`},
		{`{}`, `{"a":1}`, `{"b":1}`, `{"a":1,"b":1}`},
		{`{"a":[1, 2]}`, `{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		{
			`{"version":1,"note":"was"}`, `{"note":"mine"}`, `{"version":2,"note":"theirs","by":"ben"}`,
			`{"note":"mine"}`,
		},
		{
			`{"metadata":{"a":1,"b":1}}`, `{"metadata":{"a":2,"b":1}}`, `{"metadata":{"a":1,"b":2,"c":3}}`,
			`{"metadata":{"a":2,"b":2,"c":3}}`,
		},
		{`{"metadata":{"a":1}}`, `{"metadata":{"a":2}}`, `{}`, `{"metadata":{"a":2}}`},
	} {
		var of [3]document
		for i, text := range []string{tt.base, tt.mine, tt.theirs} {
			if err := json.Unmarshal([]byte(text), &of[i]); err != nil {
				t.Fatal(err)
			}
		}
		made, err := field.Marshal(merged(of[0], of[1], of[2]))
		if err != nil || string(made) != tt.want {
			t.Errorf("%s and %s of %s are %s, %v; want %s", tt.mine, tt.theirs, tt.base, made, err, tt.want)
		}
	}
}

// Unmodified metadata is preserved byte for byte.
func FuzzMetadata(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"title":"a","tags":["b","c"],"d":1}`, `{"title":"a\u2028b"}`, `{"tags":["a",1]}`,
		`{"title":null,"tags":{}}`, `{"a":"<&>","b":1e400,"c":[[]]}`, `{"title":"\ufeff"}`, `{"tags":["\u00a0a"]}`,
		`{"a":1,"a":2}`, `{"\r":"\r\n"}`, `[]`, `x`, ``,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &object) != nil || object == nil {
			return
		}
		d := document{"metadata": json.RawMessage(text), "status": json.RawMessage(`"active"`)}
		made, wrong := typed(sent(formOf(d))).document(english(), subject{Name: "urn:nbn:fi:a"}, d)
		if len(wrong) > 0 { // two members of one name, which the API rejects
			return
		}
		if string(made["metadata"]) != text && len(object) > 0 {
			t.Errorf("%q came back as %q", text, made["metadata"])
		}
		d.facts(english())
	})
}

// Any submitted form yields a document or errors, and its input is preserved.
func FuzzForm(f *testing.F) {
	f.Add("status=active&t0-uri=https://a.example/&t0-priority=1&t0-from=2031-05-01&metadata={}&tags=a%0Ab&rest={}&redirect=303")
	f.Add("status=x&t0-uri=&t1-uri=&t0-rest={&rest=[&metadata=[]&redirect=9999999999999999999&t0-until=0000-00-00T00:00&t0-from=9999-12-31T23:59:59")
	f.Add("status=withdrawn&successors=a%0D%0Ab&reason=%00&title=%FF&was=active&authoritative=yes&t0-uri=x&t0-remove=yes")
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		form := typed(values)
		made, wrong := form.document(english(), subject{Name: "urn:nbn:fi:a", IsPrefix: true}, nil)
		if _, err := field.Marshal(made); err != nil && wrong == nil {
			t.Errorf("%q makes %v: %v", query, made, err)
		}
		again := typed(sent(form))
		for _, name := range nameInputs() {
			if form.texts[name] != again.texts[name] {
				t.Errorf("%s: %q is carried as %q", name, form.texts[name], again.texts[name])
			}
		}
		if len(again.Targets) != len(form.Targets) {
			t.Errorf("%d targets are carried as %d", len(form.Targets), len(again.Targets))
		}
	})
}

// TestDamagedRest submits hidden fields that no page contains: they are errors, and nothing panics.
func TestDamagedRest(t *testing.T) {
	for _, rest := range []string{"null", "{", "1", `"a"`, "[]"} {
		f := &nameForm{
			texts:   texts{"status": "active", inRest: rest},
			Targets: []texts{{inURI: "https://example.org/", inRest: rest}},
		}
		_, wrong := f.document(english(), subject{Name: "urn:example:a"}, nil)
		if wrong.Of("") == "" || wrong.Of(targetField(0, "uri")) == "" {
			t.Errorf("rest %s: %v", rest, wrong)
		}
	}
}

// Each editable field is in the form, under its name, and is preserved.
func TestFormFields(t *testing.T) {
	d := make(document)
	for _, text := range []string{
		`{"status":"withdrawn","reason":"a","successors":["urn:nbn:fi:b"],"contact":"c","redirect":303,"pattern":"[0-9]","authoritative":true,"alias":"urn:nbn:fi:c"}`,
	} {
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range recordFields() {
		if d[f.Name] == nil { // a field that was added to the table
			var value any = "1"
			switch f.Type {
			case field.Time:
				value = "2031-05-01T00:00:00Z"
			case field.Number:
				value = 1
			case field.Bool:
				value = true
			case field.List:
				value = []string{"1"}
			}
			d[f.Name], _ = field.Marshal(value)
		}
	}
	d["targets"] = json.RawMessage(`[{"uri":"https://a.example/","type":"text/html","language":"fi","title":"T","rel":"item","priority":-3,` +
		`"from":"2030-01-01T00:00:00Z","until":"2031-01-01T00:00:00Z","context":"FI","note":"a"}]`)
	f := formOf(d)
	for _, name := range nameInputs() {
		if f.texts[name] == "" && recordFields().Find(name) != nil {
			t.Errorf("the form does not have %s", name)
		}
	}
	if f.texts[inRest] != "" || f.Targets[0][inRest] != "" {
		t.Errorf("the form has no fields for %s, nor %s", f.texts[inRest], f.Targets[0][inRest])
	}
	for name, value := range again(t, d, true) {
		if !field.SameJSON(value, d[name]) {
			t.Errorf("%s came back as %s, and was %s", name, value, d[name])
		}
	}
}

// Parts of metadata are written to the member that they were read from, in its format; a new part gets a
// member that readers find.
func TestMetadataFields(t *testing.T) {
	for _, tt := range []struct{ before, change, want, wrong string }{
		{
			``, `{"creator":"Elias Lönnrot","year":"1835","keywords":"epic"}`,
			`{"creator":"Elias Lönnrot","year":"1835","tags":["epic"]}`, "",
		},
		{``, `{"creator":"A\nB"}`, `{"creator":["A","B"]}`, ""},
		{`{"authors":["A"],"year":1835}`, `{"creator":"A\nB"}`, `{"authors":["A","B"],"year":1835}`, ""},
		{
			`{"dc.creator":"A","publicationYear":1835}`, `{"creator":"B","year":"1836"}`,
			`{"dc.creator":"B","publicationYear":"1836"}`, "",
		},
		{
			`{"Title":"a","keywords":["x"],"n":1.10}`, `{"keywords":"x\ny"}`,
			`{"Title":"a","keywords":["x","y"],"n":1.10}`, "",
		},
		{`{"tags":["x"],"title":"t"}`, `{"keywords":""}`, `{"title":"t"}`, ""},
		{`{"title":"t"}`, `{"title":""}`, ``, ""},
		{`{"creators":[{"name":"A"}]}`, `{"creator":"B"}`, `{"creator":"B","creators":[{"name":"A"}]}`, "creator"},
		{``, `{"title":"a","metadata":"{\"title\":\"b\"}"}`, `{"title":"a","title":"b"}`, "title"},
		{`{"a":1}`, `{"metadata":"{"}`, ``, "metadata"},
	} {
		form := formOf(document{"metadata": json.RawMessage(tt.before)})
		if err := json.Unmarshal([]byte(tt.change), &form.texts); err != nil {
			t.Fatal(err)
		}
		var wrong failures
		got := join(english(), form.texts, json.RawMessage(tt.before), &wrong)
		if tt.wrong == "" && string(got) != tt.want || len(wrong) > 0 != (tt.wrong != "") ||
			tt.wrong != "" && wrong.Of(tt.wrong) == "" {
			t.Errorf("%s with %s: %s, %v", tt.before, tt.change, got, wrong)
		}
	}
}

func TestJSONErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\": 1,\n \"ä\" 2}": "This is not valid JSON, from line 2, column 6 on.",
		`[1]`:                   "This is no JSON object",
		`{"a": 1`:               "The JSON object is incomplete",
		`{"a": 1, "a": 2}`:      "twice",
		`{"a": 1} x`:            "This is not valid JSON, from line 1, column 10 on.",
	} {
		var wrong failures
		join(english(), texts{inMetadata: text}, nil, &wrong)
		if !strings.Contains(string(wrong.Of(inMetadata)), want) {
			t.Errorf("%s: %v", text, wrong)
		}
	}
}

// Addresses as browsers display them get a suggested URI.
func TestMeantTarget(t *testing.T) {
	for typed, want := range map[string]string{
		"www.example.org": "https://www.example.org", "example.org/a b?c#d": "https://example.org/a%20b?c#d",
		"//example.org/":     "https://example.org/",
		"example.org:8080/a": "https://example.org:8080/a", "https://example.org/ä": "https://example.org/%C3%A4",
		"https://example.org/a b": "https://example.org/a%20b",
		"https://example.org/":    "", "urn:nbn:fi:a": "", "example": "", "mailto:a@b.example": "",
		"javascript:alert(1)": "", "a b.example": "", "": "", "user@example.org": "",
	} {
		if got := suggestedTarget(typed, false); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	for typed, want := range map[string]string{
		"example.org/{name}":         "https://example.org/{name}",
		"https://example.org/{name}": "", "{name}": "",
	} {
		if got := suggestedTarget(typed, true); got != want {
			t.Errorf("of a prefix, %q: %q, want %q", typed, got, want)
		}
	}
}

// A date that is typed as the end of a target means the end of the day, as in imports and commands.
func TestTypedEnd(t *testing.T) {
	for name, want := range map[string]string{"from": `"2031-05-01T00:00:00Z"`, "until": `"2031-05-02T00:00:00Z"`} {
		value, failure := valueOf(english(), field.TargetFields().Find(name), "2031-05-01")
		if failure != "" || string(value) != want {
			t.Errorf("%s is %s, %v; want %s", name, value, failure, want)
		}
	}
}
