package gopher

import (
	"mime"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// view is a representation of an item, such as "application/postscript De_DE: <100k>": Gopher+ appendix 3.0.
type view struct{ media, language, size string }

func parseView(line string) (view, bool) {
	name, size, _ := strings.Cut(line, ":")
	media, language, _ := strings.Cut(strings.TrimSpace(name), " ")
	if !strings.Contains(media, "/") && !strings.HasSuffix(media, "View") { // such as GView: Gopher+ section 2.6
		return view{}, false
	}
	return view{media, strings.TrimSpace(language), strings.Trim(strings.TrimSpace(size), "<>")}, true
}

// entry returns a view of the requested item as an item of a listing: RFC 4266 section 2.8. Its size is a note,
// because it is approximate.
func (v view) entry(q request) scheme.Item {
	name := strings.TrimSpace(v.media + " " + v.language)
	entry := scheme.Item{
		Kind: v.kind(), Name: scheme.DecodeText(name), Type: v.mediaType(),
		URI: valid(q.plain() + encodedTab + encodedTab + "+" + escape(name)),
	}
	if v.size != "" {
		entry.Note = "about " + scheme.DecodeText(v.size)
	}
	return entry
}

// mediaType returns the media type, "" for a view that has only a name.
func (v view) mediaType() string {
	if !strings.Contains(v.media, "/") {
		return ""
	}
	return scheme.DecodeText(strings.ToLower(v.media))
}

func (v view) kind() string {
	main, sub, _ := strings.Cut(strings.ToLower(v.media), "/")
	switch {
	case strings.HasPrefix(sub, "gopher"):
		return scheme.ItemDirectory
	case main == "text":
		return scheme.ItemText
	case main == "image":
		return scheme.ItemImage
	case main == "audio":
		return scheme.ItemSound
	case main == "video":
		return scheme.ItemVideo
	default:
		return scheme.ItemFile
	}
}

// viewType returns the media type of a Gopher+ string that requests a view, such as "+application/postscript
// Es_ES" (RFC 4266 section 2.8), "" if it must not be used. Types that could run scripts are taken only from
// items: anyone may have made the URL, and servers may ignore the view.
func viewType(plus string) string {
	view, _, _ := strings.Cut(strings.TrimPrefix(plus, "+"), " ")
	media, _, err := mime.ParseMediaType(view)
	if err != nil {
		return ""
	}
	main, sub, found := strings.Cut(media, "/")
	switch {
	case !found || strings.Contains(sub, "xml") || strings.Contains(sub, "script") && sub != "postscript":
		return ""
	case main == "image", main == "audio", main == "video", main == "application", media == "text/plain":
		return media
	default:
		return ""
	}
}

// viewLanguage returns the language tag of a view, such as "es-ES"; "" if it has none.
func viewLanguage(plus string) string {
	_, language, _ := strings.Cut(plus, " ")
	language = strings.ReplaceAll(language, "_", "-")
	const longest = 35 // maximum length of a tag: RFC 5646 section 4.4.1
	if len(language) > longest ||
		strings.Trim(language, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		return ""
	}
	return language
}
