package adversary

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// aHash is the output of htpasswd -B for the user a and the password "right" with cost 10.
const aHash = "$2a$10$XVRjSdNRD7rL/.D3FZCnoORVrSkUi4Yra0L7IcB6tFSwRXdDdRfZO"

// guesses are many wrong passwords and tokens (RFC 9110 section 17.15, CWE-307). Each comparison with bcrypt is
// intentionally slow.
func (s *stage) guesses() []payload {
	users, token := filepath.Join(s.directory, "users"), filepath.Join(s.directory, "token")
	const right = "the right token of administrators"
	written := errors.Join(os.WriteFile(users, []byte("a:"+aHash+"\n"), 0o600),
		os.WriteFile(token, []byte(right+"\n"), 0o600))
	passwords := payload{name: "100 wrong passwords", section: "CWE-307"}
	tokens := payload{name: "300 wrong tokens", section: "CWE-307"}
	return inFamily("guesses", []payload{
		s.alone(passwords, func(ctx context.Context, d *daemon) error {
			var outcomes tally
			many(100, func(i int) {
				credentials := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "a:wrong%d", i))
				outcomes.note(get(ctx, d.service, stranger, "http://"+s.origin.address+"/p/password",
					"Proxy-Authorization: Basic "+credentials))
			})
			if refused := outcomes.sum("407") + outcomes.sum("503"); refused != 100 {
				return fmt.Errorf("they are answered %s", &outcomes)
			}
			// A correct password is accepted, even from the address of wrong ones.
			for _, from := range []string{stranger, victim} {
				credentials := base64.StdEncoding.EncodeToString([]byte("a:right"))
				got, err := get(ctx, d.service, from, "http://"+s.origin.address+"/p/password",
					"Proxy-Authorization: Basic "+credentials)
				if err != nil || got.status != 200 {
					return errors.Join(fmt.Errorf("the right password is answered %d at %s", got.status, from), err)
				}
			}
			return errors.Join(written, soon(ctx, d, victim, "/urn:ietf:rfc:8", 302))
		}, "URND_ACCESS_PROXY_USERS="+users, "URND_ACCESS_PROXY_CLIENTS=127.0.0.0/8"),
		s.alone(tokens, func(ctx context.Context, d *daemon) error {
			var outcomes tally
			for i := range 300 {
				outcomes.note(get(ctx, d.admin, stranger, "/metrics", fmt.Sprintf("Authorization: Bearer wrong%d", i)))
			}
			if outcomes.sum("401") != 300 {
				return fmt.Errorf("they are answered %s", &outcomes)
			}
			for _, from := range []string{stranger, victim} {
				if got, err := get(ctx, d.admin, from, "/metrics", "Authorization: Bearer "+right); err != nil ||
					got.status != 200 {
					return errors.Join(fmt.Errorf("an administrator at %s is answered %d", from, got.status), err)
				}
			}
			return written
		}, "URND_ACCESS_ADMIN_TOKEN="+token),
	})
}
