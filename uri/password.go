package uri

import "strings"

// WithoutPassword returns u without the password of its userinfo; it keeps the user name. A password in a URL
// must not be shown: RFC 3986 section 7.5.
func (u URI) WithoutPassword() URI {
	userinfo, _ := u.Userinfo()
	i := strings.IndexByte(userinfo, ':')
	if i < 0 {
		return u
	}
	start, _ := u.authorityStart()
	without, err := Parse(u.s[:start+i] + u.s[start+len(userinfo):])
	if err != nil {
		return u // unreachable: removing the password keeps the URI valid
	}
	return without
}
