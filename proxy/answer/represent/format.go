package represent

// Format is a format in which works are rendered.
type Format struct {
	Name string // in URLs
	// MediaType selects it by Accept, and Also are synonyms; "" cannot be selected by Accept, only by name.
	MediaType   string
	Also        []string
	ContentType string // value of Content-Type
	Write       func(Work) []byte
}

// Formats returns all formats, in the order of preference of a site. The caller may modify the list.
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
