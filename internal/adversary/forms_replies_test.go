package adversary

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// isSafe returns an error if a response to a form is a failure, contains an injected field, permits a browser
// to do more than display it, or contains markup from the input.
func isSafe(got reply, isList bool) error {
	const longest = 30_000 // bytes of a page: docs/pages.md
	kind, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
	isPage := kind == "text/html"
	switch {
	case got.status >= http.StatusInternalServerError && got.status != http.StatusNotImplemented:
		return fmt.Errorf("it is answered %d: %.300q", got.status, got.body)
	case got.header.Get("Evil") != "":
		return errors.New("a field was injected")
	case got.header.Get("X-Content-Type-Options") != "nosniff" && got.body != "" && !isRefusal(kind, got.status):
		return fmt.Errorf("a browser may take it for something else: %d, %v, %.100q", got.status, got.header, got.body)
	case isPage && !isList && len(got.body) > longest:
		return fmt.Errorf("the page has %d bytes", len(got.body))
	}
	if location := got.header.Get("Location"); location != "" {
		if u, err := url.Parse(location); err != nil || strings.Contains(u.Host, evil) ||
			u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("it leads to %q", location)
		}
	}
	if !isPage && !strings.HasSuffix(kind, "xml") {
		return nil
	}
	policy := got.header.Get("Content-Security-Policy")
	isImage := strings.HasPrefix(policy, "sandbox; ") // an image may have its own styles
	if !strings.Contains(policy, "default-src 'none'") || !isImage && strings.Contains(policy, "unsafe") ||
		strings.Contains(policy, evil) {
		return fmt.Errorf("the policy is %q", policy)
	}
	if isPage {
		return isSafePage(got.body)
	}
	return isSafeXML(got.body)
}

// isRefusal reports whether a response was sent by a listener that has not completely read the request: its
// media type shows browsers that it is not a page.
func isRefusal(kind string, status int) bool {
	return kind == "application/problem+json" ||
		kind == "text/plain" && (status == http.StatusBadRequest || status == http.StatusRequestHeaderFieldsTooLarge)
}

// isSafePage returns an error if a page contains elements or attributes from the input of a form, or inline
// scripts.
func isSafePage(text string) error {
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return err
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		hasSource := slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "src" })
		if isEvil(n.Data) || n.Data == "base" || n.Data == "script" && !hasSource {
			return fmt.Errorf("the page has an element %s: %.200q", n.Data, n.Attr)
		}
		for _, a := range n.Attr {
			if err := isSafeAttribute(n.Data, a.Key, a.Val); err != nil {
				return err
			}
		}
	}
	return nil
}

// isEvil reports whether a name is from a hostile text, or of an attribute with a script.
func isEvil(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, evil) || strings.HasPrefix(name, "on")
}

func isSafeAttribute(element, name, value string) error {
	isURL := slices.Contains([]string{"href", "src", "action", "formaction"}, name)
	// A browser removes tabs and line breaks, and leading spaces: URL section 4.4.
	u := strings.ToLower(strings.TrimLeft(strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(value),
		" \x00\x01\x02\x1f"))
	isScript := strings.HasPrefix(u, "javascript:") || strings.HasPrefix(u, "data:") ||
		strings.HasPrefix(u, "vbscript:")
	isElsewhere := strings.HasPrefix(u, "//") || strings.HasPrefix(u, `/\`)
	if isEvil(name) || name == "style" || isURL && (isScript || isElsewhere) {
		return fmt.Errorf("the element %s has %s=%.200q", element, name, value)
	}
	return nil
}

// isSafeXML is like isSafePage for an XML document: an image, or the OpenSearch description.
func isSafeXML(text string) error {
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %.300q", err, text)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if isEvil(element.Name.Local) || element.Name.Local == "script" {
			return fmt.Errorf("the document has an element %s", element.Name.Local)
		}
		for _, a := range element.Attr {
			if err := isSafeAttribute(element.Name.Local, a.Name.Local, a.Value); err != nil {
				return err
			}
		}
	}
}
