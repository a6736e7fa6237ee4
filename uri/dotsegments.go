package uri

import "bytes"

// removeDotSegments applies RFC 3986 section 5.2.4 to the path dst[start:], in place and in linear time. As in
// that section, the result for a rootless path may have a root: "a/../b" becomes "/b".
//
// Without an authority a path must not start with "//" (section 3.3), as it would be parsed as an authority:
// "x:/..//a" becomes "x:/.//a".
func removeDotSegments(dst []byte, start int, hasAuthority bool) []byte {
	path := dst[start:]
	r := leadingDots(path)
	w := 0
	for r < len(path) && (path[r] != '/' || w == r && !mayBeDots(path, r)) {
		path[w] = path[r]
		r, w = r+1, w+1
	}
	for r < len(path) {
		end := r + 1 // path[r] is "/"
		for end < len(path) && path[end] != '/' {
			end++
		}
		last := end == len(path)
		switch segment := path[r+1 : end]; {
		case string(segment) == ".":
			if last {
				path[w] = '/'
				w++
			}
		case string(segment) == "..":
			w = max(bytes.LastIndexByte(path[:w], '/'), 0)
			if last {
				path[w] = '/'
				w++
			}
		default:
			w += copy(path[w:], path[r:end])
		}
		r = end
	}
	dst = dst[:start+w]
	if !hasAuthority && bytes.HasPrefix(dst[start:], []byte("//")) {
		dst = append(dst, 0, 0)
		copy(dst[start+2:], dst[start:])
		dst[start], dst[start+1] = '/', '.'
	}
	return dst
}

// mayBeDots reports whether the segment after the slash at r starts with a dot. Up to the first such segment,
// nothing changes.
func mayBeDots(path []byte, r int) bool { return r+1 < len(path) && path[r+1] == '.' }

// leadingDots returns the length of the prefix that steps A and D of section 5.2.4 remove from a rootless path:
// all leading "./" and "../", or a path that is "." or "..".
func leadingDots(path []byte) int {
	r := 0
	for {
		switch rest := path[r:]; {
		case bytes.HasPrefix(rest, []byte("./")):
			r += 2
		case bytes.HasPrefix(rest, []byte("../")):
			r += 3
		case string(rest) == "." || string(rest) == "..":
			return len(path)
		default:
			return r
		}
	}
}
