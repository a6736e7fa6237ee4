package pages

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// Listing returns the page of a listing. through returns where the page links to for a URI.
func Listing(l *scheme.Listing, through func(string) string) []byte {
	var rows []link
	for _, item := range l.Items {
		row := link{Text: item.Name}
		if item.URI != "" {
			row.Href = hrefOf(through(item.URI))
		}
		rows = append(rows, row)
	}
	return data{Title: l.Title, IsList: true, List: rows}.render()
}

// ListingText returns a listing as plain text.
func ListingText(l *scheme.Listing) []byte {
	var b strings.Builder
	fmt.Fprintln(&b, l.Title)
	for _, item := range l.Items {
		fmt.Fprintln(&b, item.Name, item.URI)
	}
	b.WriteString(l.Text)
	return []byte(b.String())
}
