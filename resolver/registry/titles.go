package registry

import "github.com/urnd/urnd/resolver/registry/title"

// TitleWords returns the words of the titles of an entry: those of its targets, and those in its metadata.
func TitleWords(e *Entry) []string {
	var titles []string
	for i := range e.Targets {
		if e.Targets[i].Title != "" {
			titles = append(titles, e.Targets[i].Title)
		}
	}
	return title.Words(append(titles, title.OfMetadata(e.Metadata)...)...)
}
