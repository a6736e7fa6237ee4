package represent_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/proxy/answer/represent/representtest"
)

func TestParseMetadata(t *testing.T) {
	type m = represent.Metadata
	type agents = []represent.Agent
	for _, tt := range []struct {
		text string
		want m
	}{
		{"", m{}},
		{"null", m{}},
		{"[]", m{}},
		{`{"title":`, m{}},
		{`{"title": "A"}`, m{Title: "A"}},
		{`{"Title": "A"}`, m{Title: "A"}},
		{`{"TITLE": "A", "Title": "B"}`, m{}}, // ambiguous
		{`{"TITLE": "A", "title": "B"}`, m{Title: "B"}},
		{`{"title": " A\r\n\u0000 b\u2028c "}`, m{Title: "A b c"}},
		{`{"title": ["", "A", "B"], "name": "C"}`, m{Title: "A"}}, // imports write a list for several
		{`{"title": "", "name": "C"}`, m{Title: "C"}},
		{`{"title": {"en": "A"}, "description": [["a"]], "publisher": null, "keywords": true, "creators": {"uri": "urn:x1:a"}, "issued": {}, "language": 1.5}`, m{}},
		{`{"title": {"name": "A"}, "publisher": {"name": "P"}}`, m{Title: "A", Publisher: "P"}},
		{`{"creators": "A"}`, m{Creators: agents{{Name: "A"}}}},
		{`{"authors": ["A", {"name": "B", "uri": "https://b.example/"}, 3, null, {}, []]}`, m{
			Creators: agents{{Name: "A"}, {Name: "B", URI: "https://b.example/"}, {Name: "3"}},
		}},
		{`{"creator": {"name": "A", "orcid": "0000-0002-1825-0097"}}`, m{
			Creators: agents{{Name: "A", URI: "https://orcid.org/0000-0002-1825-0097", Type: "Person"}},
		}},
		{`{"author": {"name": "A", "orcid": "https://orcid.org/0000-0001-5109-370X", "type": "Person"}}`, m{
			Creators: agents{{Name: "A", URI: "https://orcid.org/0000-0001-5109-370X", Type: "Person"}},
		}},
		{`{"author": {"name": "A", "orcid": "0000", "nameType": "Organizational", "uri": "javascript:alert(1)"}}`, m{
			Creators: agents{{Name: "A", Type: "Organization"}},
		}},
		{`{"issued": 1849}`, m{Issued: "1849"}},
		{`{"date": "1849-05"}`, m{Issued: "1849-05"}},
		{`{"datePublished": "1849-05-02T10:00:00Z"}`, m{Issued: "1849-05-02"}},
		{`{"published": "18490502"}`, m{Issued: "1849-05-02"}},
		{`{"issued": "in May", "published": "1849-02-30", "year": "1849"}`, m{Issued: "1849"}},
		{
			`{"license": "https://creativecommons.org/licenses/by/4.0/"}`,
			m{License: "https://creativecommons.org/licenses/by/4.0/"},
		},
		{`{"rights": [{"rightsUri": "https://a.example/l"}]}`, m{License: "https://a.example/l"}},
		{`{"rights": "all  reserved"}`, m{License: "all reserved"}},
		{`{"license": "javascript:alert(1)"}`, m{License: "javascript:alert(1)"}}, // a text
		{`{"keywords": ["a", "b", "a"]}`, m{Keywords: []string{"a", "b"}}},
		{`{"subjects": [{"subject": "a"}, {"value": "b"}, "c"]}`, m{Keywords: []string{"b", "c"}}},
		{`{"language": "pt-BR"}`, m{Language: "pt-BR"}},
		{`{"language": "Portuguese (Brazil)"}`, m{}},
		// Metadata as written by imports of the registry: from DataCite, NOID and EZID, handles, Shlink and
		// Bioregistry.
		{`{"title":["A","B"],"creator":["C","D"],"publisher":"P","year":"2020","type":"Dataset"}`, m{
			Title: "A", Creators: agents{{Name: "C"}, {Name: "D"}}, Publisher: "P", Issued: "2020", Type: "Dataset",
		}},
		{
			`{"erc.who":"A","erc.what":"B","erc.when":"2020"}`,
			m{Title: "B", Creators: agents{{Name: "A"}}, Issued: "2020"},
		},
		{
			`{"who":"A","what":"B","when":"20200102"}`,
			m{Title: "B", Creators: agents{{Name: "A"}}, Issued: "2020-01-02"},
		},
		{`{"datacite.title":"B","datacite.creator":"A","datacite.publisher":"P","datacite.publicationyear":"2020","datacite.resourcetype":"Dataset/Survey"}`, m{
			Title: "B", Creators: agents{{Name: "A"}}, Publisher: "P", Issued: "2020", Type: "Dataset/Survey",
		}},
		{`{"dc.title":"B","dc.creator":"A","dc.publisher":"P","dc.date":"2020","dc.type":"Text"}`, m{
			Title: "B", Creators: agents{{Name: "A"}}, Publisher: "P", Issued: "2020", Type: "Text",
		}},
		{`{"DESC":"D","EMAIL":"a@a.example"}`, m{Description: "D"}},
		{
			`{"title":"A","tags":["x","y"],"created":"2020-01-01T00:00:00Z","homepage":"https://a.example/"}`,
			m{Title: "A", Keywords: []string{"x", "y"}},
		},
	} {
		if title := represent.TitleOf(tt.text); title != tt.want.Title {
			t.Errorf("%s: the title %q", tt.text, title)
		}
		if got := represent.ParseMetadata(tt.text); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\n%+v, want\n%+v", tt.text, got, tt.want)
		}
	}
}

// Long texts are cut between characters, and input above the limit of the registry is ignored.
func TestBoundsOfMetadata(t *testing.T) {
	m := represent.ParseMetadata(`{"title": "` + strings.Repeat("é", 3000) + `", "keywords": [` +
		strings.Repeat(`"a",`, 999) + `"b"], "description": "` +
		strings.Repeat("d", 20000) + `"}`)
	if len(m.Title) > 2100 || !strings.HasSuffix(m.Title, "é…") || len(m.Keywords) != 1 || len(m.Description) > 17000 {
		t.Errorf("%d %d %d", len(m.Title), len(m.Keywords), len(m.Description))
	}
	if m := represent.ParseMetadata(`{"title": "` + strings.Repeat("a", 70000) + `"}`); m.Title != "" {
		t.Errorf("%d", len(m.Title))
	}
}

// The commitment in the metadata precedes that of the site, element by element.
func TestParseSupport(t *testing.T) {
	site := represent.Support{Who: "A", What: "B", When: "2031", Where: "https://a.example/"}
	for text, want := range map[string]represent.Support{
		"": site, "[]": site, `{"erc-support.who":""}`: site, `{"erc-support.who":{}}`: site, `{"who":"C"}`: site,
		`{"erc-support.who":"C","ERC-Support.what":["D","E"],"erc-support.when":2030}`: {
			Who: "C", What: "D",
			When: "2030", Where: "https://a.example/",
		},
		`{"erc-support.where":"https://b.example/\r\nwho: F"}`: {
			Who: "A", What: "B",
			When: "2031", Where: "https://b.example/ who: F",
		},
	} {
		if got := represent.ParseSupport(text, site); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

// Any metadata yields well-formed formats.
func FuzzMetadata(f *testing.F) {
	for _, text := range []string{
		`{"title":"A\r\nER  - ","creators":[{"name":"B and C","orcid":"0000-0002-1825-0097"}],"issued":"1849-05-02","license":"https://a.example/"}`,
		`{"title":"\\{}%&#_~^$\u2028</script>","keywords":["\"","\\"],"description":"a\u0000b","type":"Dataset/x","language":"fi"}`,
		`{"erc.who":"A, B","erc.what":"%0A","when":"1849"}`, "{}", "[", `{"license":"https://a.exam1le/"}`,
	} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, metadata, text string) {
		w := representtest.Hostile(text)
		w.Metadata = represent.ParseMetadata(metadata)
		support := represent.ParseSupport(metadata, *w.Support)
		w.Support = &support
		for _, w := range []represent.Work{
			w, representtest.Hostile(text),
			{Name: "urn:x1:a", URL: "https://r.example/urn:x1:a", Metadata: w.Metadata},
		} {
			if err := checkForms(w); err != nil {
				t.Error(err)
			}
		}
	})
}
