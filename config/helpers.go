package config

import "strings"

// What a helper is asked for.
const (
	HelperPasswords = "passwords"
	HelperGroups    = "groups"
)

// Helper returns the first helper of a kind, and its index; -1 for none.
func (a Access) Helper(kind string) (h Helper, i int) {
	for i, h := range a.Helpers {
		if h.For == kind {
			return h, i
		}
	}
	return Helper{}, -1
}

// HasLogin reports whether clients of the proxy log in.
func (a Access) HasLogin() bool {
	_, i := a.Helper(HelperPasswords)
	return a.ProxyUsers != "" || i >= 0
}

func (c Config) checkHelpers(f *Faults) {
	seen := make(map[string]bool)
	for i, h := range c.Access.Helpers {
		path := index("access.helpers", i)
		switch {
		case h.For == "":
			f.Add(path+".for", "is missing: it is passwords or groups")
		case seen[h.For]:
			f.Add(path+".for", "%q is asked of another helper, too", h.For)
		case h.For == HelperPasswords && c.Access.ProxyUsers != "":
			f.Add(path+".for", "the passwords are in access.proxy_users: delete one of them")
		}
		seen[h.For] = true
		if len(h.Command) == 0 || !strings.HasPrefix(h.Command[0], "/") {
			f.Add(path+".command", "begins with the path of a program, such as /usr/lib/squid/basic_ldap_auth")
		}
	}
}
