package scheme

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/htmlindex"
)

// WithCharset adds a charset parameter to a text media type, detected from the first bytes of the body, at most
// SniffLength of them. A head of ASCII characters gets none unless it is the whole body (shorter than
// SniffLength), because the rest may be in any charset.
func WithCharset(mediaType string, head []byte) string {
	if !strings.HasPrefix(mediaType, "text/") {
		return mediaType
	}
	charset := ""
	if mediaType == "text/html" {
		charset = declared(head)
	}
	if charset == "" {
		charset = guessed(head)
	}
	if charset == "" {
		return mediaType
	}
	return mediaType + "; charset=" + charset
}

// guessed returns the charset detected from the bytes, "" if undetermined. Valid UTF-8 is almost never Latin-1,
// the charset of old servers; browsers decode Latin-1 as Windows-1252.
func guessed(head []byte) string {
	whole := len(head) < SniffLength
	if !whole { // the last character may be truncated
		for i := 1; i < utf8.UTFMax && i < len(head); i++ {
			if last := head[len(head)-i:]; utf8.RuneStart(last[0]) {
				if !utf8.FullRune(last) {
					head = head[:len(head)-i]
				}
				break
			}
		}
	}
	isASCII := bytes.IndexFunc(head, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return "utf-16le"
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "utf-16be"
	case isASCII && !whole:
		return ""
	case utf8.Valid(head):
		return "utf-8"
	default:
		return "windows-1252"
	}
}

// declared returns the charset that an HTML page declares by a byte order mark or by a meta element in its
// first 1024 bytes, "" for none: HTML standard, section 13.2.3.2.
func declared(head []byte) string {
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		return "utf-8"
	}
	const first = 1024
	tokens := html.NewTokenizer(bytes.NewReader(head[:min(len(head), first)]))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			if token := tokens.Token(); token.Data == "meta" {
				if charset := metaCharset(token.Attr); charset != "" {
					return charset
				}
			}
		}
	}
}

// metaCharset returns the charset that a meta element declares, by its name in the Encoding standard. It is ""
// for none and for an unknown charset.
func metaCharset(attributes []html.Attribute) string {
	var label, content string
	isType := false
	for _, a := range attributes {
		switch a.Key {
		case "charset":
			label = a.Val
		case "content":
			content = a.Val
		case "http-equiv":
			isType = strings.EqualFold(a.Val, "content-type")
		}
	}
	if label == "" && isType {
		if _, parameters, err := mime.ParseMediaType(content); err == nil {
			label = parameters["charset"]
		}
	}
	encoding, err := htmlindex.Get(label)
	if err != nil {
		return ""
	}
	name, err := htmlindex.Name(encoding)
	switch {
	case err != nil, name == "replacement":
		return ""
	case strings.HasPrefix(name, "utf-16"): // the declaration was read as ASCII, so the page is not UTF-16
		return "utf-8"
	default:
		return name
	}
}
