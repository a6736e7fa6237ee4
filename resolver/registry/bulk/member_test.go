package bulk_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// Metadata members have columns of their own. Members without a column keep their values, like all fields
// without a column.
func TestMembersOfMetadata(t *testing.T) {
	const before = `{"title":"\u00e4 & b","year":1999,"tags":["x"]}`
	for _, tt := range []struct{ name, text, want, rejected string }{
		{"one", "name,metadata.title\nurn:nbn:fi:a,New\n", `{"title":"New","year":1999,"tags":["x"]}`, ""},
		{"the same", "name,metadata.title,Metadata.year\nurn:nbn:fi:a,ä & b,1999\n", before, ""},
		{
			"a new one, and case", "name,metadata.Title\nurn:nbn:fi:a,\"<\"\"q\"\">\"\n",
			`{"title":"\u00e4 & b","year":1999,"tags":["x"],"Title":"<\"q\">"}`, "",
		},
		{"empty", "name,metadata.title,metadata.none\nurn:nbn:fi:a,,\n", `{"year":1999,"tags":["x"]}`, ""},
		{"all empty", "name,metadata.title,metadata.year,metadata.tags\nurn:nbn:fi:a,,,\n", "", ""},
		{
			"several lines",
			"name,metadata.title,metadata.year\nurn:nbn:fi:a,,\nurn:nbn:fi:a,New,\nurn:nbn:fi:a,,2000\nurn:nbn:fi:a,New,2000\n", `{"title":"New","year":"2000","tags":["x"]}`, "",
		},
		{
			"keywords", "name,metadata.tags\nurn:nbn:fi:a,epic; Finland\uff1b\n",
			`{"title":"\u00e4 & b","year":1999,"tags":["epic","Finland"]}`, "",
		},
		{"the same keyword", "name,metadata.tags\nurn:nbn:fi:a,x\n", before, ""},
		{"only separators", "name,metadata.tags\nurn:nbn:fi:a,;\n", `{"title":"\u00e4 & b","year":1999}`, ""},
		{
			"a contradiction", "name,metadata.title\nurn:nbn:fi:a,New\nurn:nbn:fi:a,Other\n",
			`{"title":"New","year":1999,"tags":["x"]}`, "metadata.title differs from line 2",
		},
		{
			"with all metadata", "name,metadata,metadata.title\nurn:nbn:fi:a,{\"a\":1},New\n", before,
			"columns of its members",
		},
		{"with no metadata", "name,metadata,metadata.title\nurn:nbn:fi:a,,New\n", `{"title":"New"}`, ""},
		{"in JSON", `{"name":"urn:nbn:fi:a","metadata.title":"New"}` + "\n", before, "unknown member"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := open(t)
			imported(t, bulk.Import{Registry: r},
				"name,target,metadata\nurn:nbn:fi:a,https://a.example/,\""+strings.ReplaceAll(before, `"`, `""`)+"\"\n")
			_, rejected := imported(t, bulk.Import{Registry: r, Overwrite: true}, tt.text)
			e, err := r.Get(t.Context(), registry.Name("urn:nbn:fi:a"))
			if err != nil || e.Metadata != tt.want {
				t.Errorf("%s, %v, want %s", e.Metadata, err, tt.want)
			}
			if reported := len(rejected) > 0; reported != (tt.rejected != "") ||
				reported && !strings.Contains(rejected[0].Reason.Error(), tt.rejected) {
				t.Errorf("rejected are %v, want %q", rejected, tt.rejected)
			}
			if tt.want == before && e.Version != 1 {
				t.Errorf("an equal record has made version %d", e.Version)
			}
		})
	}
	r := open(t)
	imported(t, bulk.Import{Registry: r},
		"name,target,metadata.title,metadata.none\nurn:nbn:fi:b,https://a.example/,B,\n")
	if e, err := r.Get(t.Context(), registry.Name("urn:nbn:fi:b")); err != nil || e.Metadata != `{"title":"B"}` {
		t.Errorf("a new name has %s, %v", e.Metadata, err)
	}
	imported(t, bulk.Import{Registry: r},
		"name,changed,target,metadata.title,metadata.none\nurn:nbn:fi:c,2020-01-01,https://a.example/,C,\n")
	if e, err := r.Get(t.Context(), registry.Name("urn:nbn:fi:c")); err != nil || e.Metadata != `{"title":"C"}` {
		t.Errorf("a version as it was has %s, %v", e.Metadata, err)
	}
	for text, want := range map[string]string{
		"name,metadata.a,metadata.a\n": "duplicate column for the metadata.a", "name,metadata.\n": "metadata.",
		"name,metadata.a,metadata.A\n": "",
	} {
		i := bulk.Import{Registry: r, Actor: admin}
		if _, err := i.Run(t.Context(), strings.NewReader(text)); want == "" && err != nil ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
