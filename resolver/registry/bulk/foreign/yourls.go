package foreign

import (
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// YOURLS reads links of YOURLS: the JSON of its API, which is a response to the actions stats, list or
// expand; or CSV with the columns of its URL table, as plugins and phpMyAdmin export it, or those of the
// plugin Import Export.
func YOURLS(in *Input, base string) (Entries, error) {
	next := newTable(in, "url", "target", "longurl").next
	if in.isJSON() {
		d := newDocuments(in, in, "result")
		d.maps = []string{"links"} // link_1, link_2 and so on
		next = d.next
	}
	return entries(next, "link of YOURLS", func(r *record, i *Item) {
		keyword, short, url := r.string("keyword"), r.string("shorturl"), r.string("url", "target", "longurl")
		source := r.string("source") // the plugin Import Export writes "/keyword/"
		if keyword == "" {
			keyword = strings.Trim(source, "/")
		}
		i.Input = shown(strings.TrimSpace(keyword + " " + short + " " + url))
		if keyword == "" {
			keyword = short[strings.LastIndexByte(short, '/')+1:] // a keyword has no slash
		}
		switch {
		case base != "" && keyword != "":
			i.named(pathBase(base), keyword)
		case short != "":
			i.nameEncoded("", short, short)
		case keyword != "":
			i.reject("keyword without a base URL: set --base, such as https://short.example.org/")
		}
		if url != "" {
			i.to(registry.Target{URI: strings.TrimSpace(url)})
		}
		i.describe("title", r.string("title"))
		i.describe("created", r.string("timestamp"))
		if r.string("ip") != "" {
			i.addUnmappedField("ip", "IP address of its creator")
		}
		if clicks := r.scalar("clicks", "hits"); clicks != "0" && clicks != "" {
			i.addUnmappedField("clicks", "count of %.20s clicks", clicks)
		}
		r.skip("message", "statusCode") // of the response
	}), nil
}
