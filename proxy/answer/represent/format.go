package represent

// Format is a form in which works are written.
type Format struct {
	Name string // in URLs
	// MediaType is that by which it is asked for, and Also are others for the same; "" is none: it is asked for by name.
	MediaType   string
	Also        []string
	ContentType string // of what is written
	Write       func(Work) []byte
}

// Formats returns all, in the order in which a site prefers them. The caller may change the list.
func Formats() []Format {
	return []Format{
		{"jsonld", "application/ld+json", []string{"application/vnd.schemaorg.ld+json"}, "application/ld+json", JSONLD},
		{"turtle", "text/turtle", []string{"application/x-turtle"}, "text/turtle; charset=utf-8", Turtle},
		{"csl", "application/vnd.citationstyles.csl+json", nil, "application/vnd.citationstyles.csl+json", CSL},
		{"bibtex", "application/x-bibtex", []string{"text/x-bibtex"}, "application/x-bibtex; charset=utf-8", BibTeX},
		{"ris", "application/x-research-info-systems", nil, "application/x-research-info-systems; charset=utf-8", RIS},
		{"citation", "text/x-bibliography", nil, "text/x-bibliography; charset=utf-8", Citation},
		{"erc", "", nil, "text/plain; charset=utf-8", ERC},
	}
}
