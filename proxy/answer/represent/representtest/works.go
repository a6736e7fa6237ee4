// Package representtest has the works for the tests of package represent, and for tests that parse its
// formats with other libraries. Nothing enters; values of represent.Work leave.
package representtest

import (
	"time"

	"github.com/urnd/urnd/proxy/answer/represent"
)

// Full returns a work with all fields set.
func Full() represent.Work {
	return represent.Work{
		Name: "urn:nbn:fi-fe1", URL: "https://resolver.example.org/urn:nbn:fi-fe1", Status: represent.Active,
		Since: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC), Others: []string{"doi:10.5072/x1"},
		Locations: []represent.Link{
			{URI: "https://a.example/1.pdf", Type: "application/pdf", Language: "fi", Title: "The book"},
			{URI: "https://b.example/1"},
		},
		Metadata: represent.Metadata{
			Title: "Kalevala", Description: "An epic.",
			Creators: []represent.Agent{
				{Name: "Lönnrot, Elias", URI: "https://orcid.org/0000-0002-1825-0097", Type: "Person"},
				{Name: "SKS", Type: "Organization"},
				{Name: "The people"},
			},
			Publisher: "J. C. Frenckell", Issued: "1849-05-02",
			License: "https://creativecommons.org/publicdomain/mark/1.0/", Keywords: []string{"epic", "Finland"},
			Type: "Book", Language: "fi",
		},
		Support: &represent.Support{
			Who: "A library", What: "Permanent: Stable Content:", When: "2026-11-01",
			Where: "https://a.example/policy",
		},
	}
}

// Gone returns a withdrawn name with little metadata.
func Gone() represent.Work {
	return represent.Work{
		Name: "ark:12345/x1", URL: "https://r.example/ark:12345/x1", Status: represent.Withdrawn,
		Since:  time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		Reason: "a new\nedition", Successors: []string{"ark:12345/x2"},
		Locations: []represent.Link{{URI: "https://a.example/old"}},
		Metadata:  represent.Metadata{Title: "A", License: "all rights reserved"},
	}
}

// Hostile returns a work whose texts all contain text, which has a meaning in one of the formats.
func Hostile(text string) represent.Work {
	return represent.Work{
		Name: text, URL: text, Status: text, Reason: text, Successors: []string{text, "urn:x1:a"},
		Others: []string{text},
		Locations: []represent.Link{
			{URI: text, Type: text, Language: text, Title: text},
			{URI: "https://a.example/", Title: text, Type: "text/html; a=" + text},
		},
		Metadata: represent.Metadata{
			Title: text, Description: text,
			Creators:  []represent.Agent{{Name: text, URI: text, Type: text}, {Name: text + ", " + text}},
			Publisher: text, Issued: text, License: text, Keywords: []string{text, "a"}, Type: text, Language: text,
		},
		Support: &represent.Support{Who: text, What: text, When: text, Where: text},
	}
}
