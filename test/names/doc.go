// Package names contains the end-to-end tests of name resolution: by DNS (DDDS: RFC 3401 to 3404), THTTP (RFC
// 2169), rules and the registry, for URNs (RFC 8141), ARKs, DOIs, handles and GS1 Digital Links in all their
// spellings. Requests for names enter; responses, and the queries at DNS and other servers, are checked.
package names
