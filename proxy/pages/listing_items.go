package pages

import (
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"

	"github.com/urnd/urnd/resolver/scheme"
)

// item is an item of a listing as it is shown. Empty texts and nil are not known.
type item struct {
	Kind             string // in words
	Link             link
	From, Type, Note string
	Size             *size
	Time             *moment
	Count            string
}

type size struct {
	Octets      int64
	Text, Exact string
}

type moment struct{ Datetime, Text string }

// table is a listing in columns, of which those are shown that an item has a value for.
type table struct {
	Caption           string
	Size, Time, Count bool
	CountName         string
	Rows              []item
}

// menuPart is an item of a menu, or the lines of text between items as one text.
type menuPart struct {
	IsText, IsDrawing bool
	Text              string
	Item              item
}

// threadPart is an article in nested lists: before it lists end, the item before it does, or a list begins.
type threadPart struct {
	Item    item
	Ends    []struct{}
	Follows bool
	Begins  bool
}

func itemOf(i *scheme.Item, to linker) item {
	one := item{
		Kind: kindWord(i.Kind), Link: to.link(i.Name, i.URI), From: text(i.From), Type: text(i.Type), Note: text(i.Note),
		Size: sizeOf(i.Size), Time: momentOf(i.Modified),
	}
	if i.Count != nil {
		one.Count = humanize.Comma(*i.Count)
	}
	return one
}

func tableOf(l *scheme.Listing, to linker) *table {
	t := &table{Caption: count(len(l.Items), "entry", "entries"), CountName: "Entries", Rows: make([]item, 0, len(l.Items))}
	if l.Kind == scheme.KindGroups {
		t.Caption, t.CountName = count(len(l.Items), "newsgroup", "newsgroups"), "Articles"
	}
	for i := range l.Items {
		one := itemOf(&l.Items[i], to)
		t.Rows = append(t.Rows, one)
		t.Size = t.Size || one.Size != nil
		t.Time = t.Time || one.Time != nil
		t.Count = t.Count || one.Count != ""
	}
	return t
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(int64(n)) + " " + many
}

// menuOf returns the parts of a menu, in which lines of text that follow each other are one.
func menuOf(items []scheme.Item, to linker) []menuPart {
	var parts []menuPart
	var between []string
	flush := func() {
		if joined := strings.Join(between, "\n"); strings.TrimSpace(joined) != "" {
			parts = append(parts, menuPart{IsText: true, IsDrawing: isDrawing(joined), Text: joined})
		}
		between = between[:0]
	}
	for i := range items {
		if items[i].Kind == scheme.ItemInfo && items[i].URI == "" {
			between = append(between, text(items[i].Name))
			continue
		}
		flush()
		parts = append(parts, menuPart{Item: itemOf(&items[i], to)})
	}
	flush()
	return parts
}

// isDrawing reports whether a text is more likely a picture made of characters, whose lines must not be
// broken, than words: less than half of it is letters and digits.
func isDrawing(s string) bool {
	words, all := 0, 0
	for _, r := range s {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			words++
		}
	}
	return 2*words < all
}

// maxDepth bounds how deep articles are shown in a thread: deeper ones are at this depth.
const maxDepth = 8

// threadOf returns articles in nested lists, and for each list but the outermost that is open at the end an
// element of ends.
func threadOf(items []scheme.Item, to linker) (parts []threadPart, ends []struct{}) {
	depth := 0
	for i := range items {
		part := threadPart{Item: itemOf(&items[i], to)}
		at := min(max(items[i].Depth, 0), maxDepth)
		if i == 0 {
			at = 0
		} else {
			at = min(at, depth+1)
			part.Begins = at > depth
			part.Follows = !part.Begins
			part.Ends = make([]struct{}, max(depth-at, 0))
		}
		depth = at
		parts = append(parts, part)
	}
	return parts, make([]struct{}, depth)
}

func sizeOf(octets *int64) *size {
	if octets == nil || *octets < 0 {
		return nil
	}
	return &size{*octets, humanize.Bytes(uint64(*octets)), humanize.Comma(*octets) + " octets"}
}

// lastYear is the last one that RFC 3339 has.
const lastYear = 9999

// momentOf returns a time in UTC, to the minute, or the day where the server says no more.
func momentOf(t time.Time) *moment {
	t = t.UTC()
	switch {
	case t.IsZero() || t.Year() < 1 || t.Year() > lastYear:
		return nil
	case t.Equal(t.Truncate(24 * time.Hour)):
		return &moment{t.Format(time.DateOnly), t.Format(time.DateOnly)}
	default:
		return &moment{t.Format(time.RFC3339), t.Format("2006-01-02 15:04")}
	}
}

// kindWord returns the word that is shown for a kind of items.
func kindWord(kind string) string {
	switch kind {
	case scheme.ItemDirectory:
		return "folder"
	case scheme.ItemWeb:
		return "web page"
	case scheme.ItemGroup:
		return "group"
	case scheme.ItemInfo:
		return "text"
	case scheme.ItemFile, scheme.ItemLink, scheme.ItemText, scheme.ItemImage, scheme.ItemSound, scheme.ItemVideo, scheme.ItemDocument,
		scheme.ItemArchive, scheme.ItemSearch, scheme.ItemForm, scheme.ItemSession, scheme.ItemArticle, scheme.ItemError:
		return kind
	default:
		return "other"
	}
}
