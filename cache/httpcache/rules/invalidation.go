package rules

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/dunglas/httpsfv"

	"github.com/urnd/urnd/internal/httpmessage"
)

// SafeMethod reports whether a method is known to be safe.
func SafeMethod(method string) bool { return slices.Contains(safeMethods[:], method) }

// safeMethods are the safe methods: RFC 9110 section 9.2.1, and the IANA registry of methods.
var safeMethods = [...]string{
	http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace,
	"PROPFIND", "REPORT", "SEARCH", "QUERY", "PRI",
}

// ConsistentWithHead reports whether the fields of a response to HEAD are consistent with the stored representation.
func ConsistentWithHead(s *Response, header httpmessage.Fields) bool {
	if tag := header.Get("Etag"); tag != "" && tag != s.ETag {
		return false
	}
	if modified := header.Get("Last-Modified"); modified != "" && modified != s.Fields.Get("Last-Modified") {
		return false
	}
	length := header.Get("Content-Length")
	return length == "" || s.Length < 0 || length == strconv.FormatInt(s.Length, 10)
}

// OriginOf returns the scheme and authority of a canonical URI.
func OriginOf(key string) string {
	begin := strings.Index(key, "://") + len("://")
	if end := strings.IndexAny(key[begin:], "/?"); end >= 0 {
		return key[:begin+end]
	}
	return key
}

// Tags returns the tags of a stored response for purges: Surrogate-Key, Cache-Tag and Cache-Groups.
func (s *Response) Tags() []string {
	var tags []string
	for _, line := range s.Fields.Values("Surrogate-Key") {
		tags = append(tags, strings.Fields(line)...)
	}
	tags = slices.AppendSeq(tags, membersOf(s.Fields.Values("Cache-Tag")))
	return append(tags, ParseStrings(s.Fields.Values("Cache-Groups"))...)
}

// ParseStrings returns the strings of a List of RFC 9651, none if the list is invalid.
func ParseStrings(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	list, err := httpsfv.UnmarshalList(lines)
	if err != nil {
		return nil
	}
	var texts []string
	for _, member := range list {
		if item, ok := member.(httpsfv.Item); ok {
			if text, ok := item.Value.(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return texts
}
