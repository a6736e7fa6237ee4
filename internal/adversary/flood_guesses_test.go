package adversary

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// aHash is what htpasswd -B writes for the user a and the password "right", at the cost 10.
const aHash = "$2a$10$NPAQ6Q2aiGzZqSCG6dFVZOOGfaHx4GBDgx3K3jO9YpI2HYxNrlZvG"

// guesses are many wrong passwords and tokens (RFC 9110 section 17.15, CWE-307). Each
// comparison with bcrypt takes long on purpose.
func (s *stage) guesses() []payload {
	users, token := filepath.Join(s.directory, "users"), filepath.Join(s.directory, "token")
	const right = "the right token of administrators"
	written := errors.Join(os.WriteFile(users, []byte("a:"+aHash+"\n"), 0o600), os.WriteFile(token, []byte(right+"\n"), 0o600))
	passwords := payload{name: "100 wrong passwords", section: "CWE-307"}
	tokens := payload{name: "300 wrong tokens", section: "CWE-307"}
	return inFamily("guesses", []payload{
		s.alone(passwords, func(ctx context.Context, d *daemon) error {
			var outcomes tally
			many(100, func(i int) {
				credentials := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "a:wrong%d", i))
				outcomes.note(get(ctx, d.service, stranger, "http://"+s.origin.address+"/p/password", "Proxy-Authorization: Basic "+credentials))
			})
			if refused := outcomes.sum("407") + outcomes.sum("429") + outcomes.sum("503"); refused != 100 {
				return fmt.Errorf("they are answered %s", &outcomes)
			}
			const most = 3 * time.Second
			if used, err := d.processor(); err != nil || used > most {
				return errors.Join(err, fmt.Errorf("they took %s of processor time: %s", used, &outcomes))
			}
			return errors.Join(written, soon(ctx, d, victim, "/urn:ietf:rfc:8", 302))
		}, "URND_ACCESS_PROXY_USERS="+users, "URND_ACCESS_PROXY_CLIENTS=127.0.0.0/8"),
		s.alone(tokens, func(ctx context.Context, d *daemon) error {
			var outcomes tally
			for i := range 300 {
				outcomes.note(get(ctx, d.admin, stranger, "/metrics", fmt.Sprintf("Authorization: Bearer wrong%d", i)))
			}
			if outcomes.sum("429") == 0 || outcomes.sum("401")+outcomes.sum("429") != 300 {
				return fmt.Errorf("they are answered %s", &outcomes)
			}
			got, err := get(ctx, d.admin, victim, "/metrics", "Authorization: Bearer "+right)
			if err == nil && got.status != 200 {
				err = fmt.Errorf("an administrator elsewhere is answered %d", got.status)
			}
			return errors.Join(written, err)
		}, "URND_ACCESS_ADMIN_TOKEN="+token),
	})
}
