package explain

import "slices"

// service is a service and its well-known ports.
type service struct {
	name  string
	ports []uint16
}

// services returns the services, besides those of protocol gateways, whose servers could take bytes of another
// protocol for commands.
func services() []service {
	return []service{
		{"old test services (echo, discard, daytime, chargen)", []uint16{7, 9, 13, 19}},
		{"secure login (SSH)", []uint16{22}},
		{"mail (SMTP)", []uint16{25, 465, 587, 2525}},
		{"names (DNS)", []uint16{53, 853}},
		{"finger", []uint16{79}},
		{"the web (HTTP)", []uint16{80, 443, 3128, 8000, 8080, 8443}},
		{"Kerberos", []uint16{88, 464}},
		{"mailboxes (POP3)", []uint16{110, 995}},
		{"shared folders (SMB)", []uint16{139, 445}},
		{"mailboxes (IMAP)", []uint16{143, 993}},
		{"chat (IRC)", []uint16{194, 6667, 6697}},
		{"directories (LDAP)", []uint16{389, 636}},
		{"remote commands (rexec, rlogin, rsh)", []uint16{512, 513, 514}},
		{"printing", []uint16{515, 631, 9100}},
		{"copies of files (rsync)", []uint16{873}},
		{"databases", []uint16{1433, 1521, 3306, 5432, 27017}},
		{"shared folders (NFS)", []uint16{2049}},
		{"remote screens (RDP, VNC)", []uint16{3389, 5900}},
		{"telephony (SIP)", []uint16{5060, 5061}},
		{"screens (X11)", []uint16{6000}},
		{"caches (Redis, memcached)", []uint16{6379, 11211}},
		{"searches (Elasticsearch)", []uint16{9200}},
	}
}

// serviceAt returns the service of a port, "" if unknown.
func (c Config) serviceAt(port uint16) string {
	if c.ServiceAt != nil {
		if name := c.ServiceAt(port); name != "" {
			return name
		}
	}
	for _, s := range services() {
		if slices.Contains(s.ports, port) {
			return s.name
		}
	}
	return ""
}
