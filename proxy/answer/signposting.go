package answer

import (
	"strings"

	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/resolver"
)

// maxSignposts limits the links of a page in its Link field: a page with more links refers to the linkset.
const maxSignposts = 12

// signposts returns the links of FAIR Signposting about the named object, besides its items and descriptions:
// its type, authors and license.
func signposts(w represent.Work) []resolver.Link {
	links := []resolver.Link{{Rel: "type", URI: "https://schema.org/" + w.Metadata.SchemaType()}}
	for _, agent := range w.Metadata.Creators {
		if isWebURL(agent.URI) {
			links = append(links, resolver.Link{Rel: "author", URI: agent.URI})
		}
	}
	if isWebURL(w.Metadata.License) {
		links = append(links, resolver.Link{Rel: "license", URI: w.Metadata.License})
	}
	return links
}

func isWebURL(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

// pageLinks returns the links of the page about a name: FAIR Signposting level 1, if they are few. For a name
// that is not in the registry, the named object is unknown.
func pageLinks(w represent.Work, registered bool) []resolver.Link {
	links := []resolver.Link{{Rel: "type", URI: "https://schema.org/AboutPage"}}
	if registered {
		links = append(links, signposts(w)...)
	}
	for _, l := range w.Locations {
		links = append(links, resolver.Link{
			Rel: relItem, URI: l.URI, Type: l.Type, Language: l.Language,
			Title: l.Title,
		})
	}
	if len(links) > maxSignposts {
		return nil
	}
	return links
}
