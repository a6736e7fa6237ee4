package pages_test
import ("testing";"github.com/urnd/urnd/proxy/pages")
func TestZ(t *testing.T){ for _,n:=range names(t){ s:=string(pages.Listing(fixture(t,n),fetched)); if len(s)<500 {t.Log(n,s)} } }
