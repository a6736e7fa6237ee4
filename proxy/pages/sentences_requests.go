package pages

// requestSentences are why requests of readers are refused: package problem has them in English.
func requestSentences() []sentence {
	return []sentence{
		{
			"the request-target is longer than is allowed here", "das Ziel der Anfrage ist länger, als hier erlaubt ist",
			"la cible de la requête est plus longue que ce qui est permis ici", "el destino de la petición es más largo de lo que se permite aquí",
			"请求目标超过了此处允许的长度",
		},
		{
			"the header is larger than is allowed here", "der Kopf der Anfrage ist größer, als hier erlaubt ist",
			"l’en-tête est plus grand que ce qui est permis ici", "la cabecera es más grande de lo que se permite aquí",
			"请求头超过了此处允许的大小",
		},
		{
			"the request is not valid HTTP/1.1", "die Anfrage ist kein gültiges HTTP/1.1", "la requête n’est pas du HTTP/1.1 valide",
			"la petición no es HTTP/1.1 válido", "此请求不是有效的 HTTP/1.1",
		},
		{
			"the client took too long to send the next part of its body", "der Client hat zu lange für den nächsten Teil des Inhalts gebraucht",
			"le client a trop tardé à envoyer la suite de son contenu", "el cliente ha tardado demasiado en enviar la siguiente parte de su contenido",
			"客户端发送下一部分内容的时间过长",
		},
		{
			"the client took too long to send the head of its request", "der Client hat zu lange für den Kopf seiner Anfrage gebraucht",
			"le client a trop tardé à envoyer l’en-tête de sa requête", "el cliente ha tardado demasiado en enviar la cabecera de su petición",
			"客户端发送请求头的时间过长",
		},
		{
			"no expectation but 100-continue can be met", "keine Erwartung außer 100-continue kann erfüllt werden",
			"aucune attente autre que 100-continue ne peut être satisfaite", "no se puede cumplir ninguna expectativa salvo 100-continue",
			"除 100-continue 外，无法满足任何期望",
		},
		{
			"this port speaks HTTPS, and the request is plain HTTP", "dieser Port spricht HTTPS, und die Anfrage ist einfaches HTTP",
			"ce port parle HTTPS, et la requête est en simple HTTP", "este puerto habla HTTPS, y la petición es HTTP simple", "此端口使用 HTTPS，而请求是普通 HTTP",
		},
		{
			"no transfer coding but chunked is supported", "außer chunked wird keine Übertragungskodierung unterstützt",
			"aucun codage de transfert autre que chunked n’est pris en charge", "no se admite otra codificación de transferencia que chunked",
			"除 chunked 外不支持其他传输编码",
		},
		{"this method is not known here", "diese Methode ist hier nicht bekannt", "cette méthode n’est pas connue ici", "este método no se conoce aquí", "此处不认识此方法"},
		{
			"this method is not supported here", "diese Methode wird hier nicht unterstützt", "cette méthode n’est pas prise en charge ici",
			"este método no se admite aquí", "此处不支持此方法",
		},
		{
			"a tunnel to this port is not allowed", "ein Tunnel zu diesem Port ist nicht erlaubt", "un tunnel vers ce port n’est pas autorisé",
			"no se permite un túnel a este puerto", "不允许建立到此端口的隧道",
		},
		{
			"the request has come through this proxy before", "die Anfrage ist schon einmal durch diesen Proxy gekommen",
			"la requête est déjà passée par ce proxy", "la petición ya ha pasado por este proxy", "此请求先前已经过此代理",
		},
		{
			"this client has too many connections", "dieser Client hat zu viele Verbindungen", "ce client a trop de connexions",
			"este cliente tiene demasiadas conexiones", "此客户端的连接过多",
		},
		{
			"this client sends too many requests", "dieser Client sendet zu viele Anfragen", "ce client envoie trop de requêtes",
			"este cliente envía demasiadas peticiones", "此客户端发送的请求过多",
		},
		{
			"the limit of fetches is reached", "die Höchstzahl der Abrufe ist erreicht", "la limite des récupérations est atteinte",
			"se ha alcanzado el límite de descargas", "已达到获取数量的上限",
		},
		{
			"the limit of upgraded connections is reached", "die Höchstzahl umgestellter Verbindungen ist erreicht",
			"la limite des connexions converties est atteinte", "se ha alcanzado el límite de conexiones convertidas", "已达到升级连接的上限",
		},
		{
			"the memory for documents is used up; try again in a second", "der Speicher für Dokumente ist belegt; versuchen Sie es in einer Sekunde noch einmal",
			"la mémoire pour les documents est épuisée ; réessayez dans une seconde", "la memoria para documentos está agotada; inténtelo de nuevo en un segundo",
			"文档内存已用尽；请一秒后再试",
		},
		{
			"there is no page of this address, and it is not the name of anything", "unter dieser Adresse gibt es keine Seite, und sie ist kein Name",
			"il n’y a pas de page à cette adresse, et elle n’est le nom de rien", "no hay ninguna página en esta dirección, y no es el nombre de nada",
			"此地址没有页面，也不是任何事物的名称",
		},
		{
			"the resource exists, but in none of the media types that the client accepts", "es gibt die Ressource, aber in keinem Medientyp, den der Client annimmt",
			"la ressource existe, mais dans aucun des types de média que le client accepte", "el recurso existe, pero en ninguno de los tipos de medio que el cliente acepta",
			"资源存在，但没有客户端接受的媒体类型",
		},
		{
			"the field Accept-Datetime has no date of HTTP, such as Thu, 01 May 2031 12:00:00 GMT",
			"das Feld Accept-Datetime hat kein Datum von HTTP, wie Thu, 01 May 2031 12:00:00 GMT",
			"le champ Accept-Datetime n’a pas de date de HTTP, telle que Thu, 01 May 2031 12:00:00 GMT",
			"el campo Accept-Datetime no tiene una fecha de HTTP, como Thu, 01 May 2031 12:00:00 GMT",
			"Accept-Datetime 字段没有 HTTP 日期，例如 Thu, 01 May 2031 12:00:00 GMT",
		},
		{
			"this machine has rights here that are not lent to requests for another host",
			"dieser Rechner hat hier Rechte, die Anfragen an einen anderen Host nicht bekommen",
			"cette machine a ici des droits qui ne sont pas prêtés aux requêtes pour un autre hôte",
			"esta máquina tiene aquí derechos que no se prestan a peticiones para otro host", "此计算机在这里拥有的权限不会借给对其他主机的请求",
		},
		{
			"this client may not list names", "dieser Client darf keine Namen auflisten", "ce client n’a pas le droit de lister des noms",
			"este cliente no tiene permiso para listar nombres", "此客户端无权列出名称",
		},
		{
			"too many browse the registry", "zu viele sehen sich gerade im Register um", "trop de lecteurs parcourent le registre",
			"demasiados lectores exploran el registro", "浏览登记名称的读者过多",
		},
		{
			"where the list is to go on is not known here, or not any more: begin it again",
			"wo die Liste weitergehen soll, ist hier nicht oder nicht mehr bekannt: beginnen Sie sie von vorn",
			"l’endroit où la liste doit continuer n’est pas connu ici, ou ne l’est plus : recommencez-la",
			"no se sabe aquí, o ya no, dónde debe continuar la lista: comience de nuevo", "此处不知道或不再知道列表应从何处继续：请重新开始",
		},
		{
			"one of the fields is too long", "eines der Felder ist zu lang", "l’un des champs est trop long", "uno de los campos es demasiado largo", "其中一个字段过长",
		},
		{
			"one of the fields has what is no text", "eines der Felder enthält etwas, das kein Text ist", "l’un des champs contient autre chose que du texte",
			"uno de los campos contiene algo que no es texto", "其中一个字段含有非文本内容",
		},
		{"there is no such status", "diesen Status gibt es nicht", "cet état n’existe pas", "no existe ese estado", "没有这种状态"},
		{
			"this client may not resolve names", "dieser Client darf keine Namen auflösen", "ce client n’a pas le droit de résoudre des noms",
			"este cliente no puede resolver nombres", "此客户端无权解析名称",
		},
		{
			"this client may not use the proxy", "dieser Client darf den Proxy nicht benutzen", "ce client n’a pas le droit d’utiliser le proxy",
			"este cliente no puede usar el proxy", "此客户端无权使用代理",
		},
		{
			"this client may not purge the cache", "dieser Client darf nichts aus dem Cache entfernen", "ce client n’a pas le droit de purger le cache",
			"este cliente no puede purgar la caché", "此客户端无权清除缓存",
		},
		{
			"a page of another site may only link to what is fetched here, and not load it with the rights of its reader",
			"eine Seite einer anderen Website darf auf das, was hier abgerufen wird, nur verweisen und es nicht mit den Rechten ihres Lesers laden",
			"une page d’un autre site peut seulement renvoyer à ce qui est récupéré ici, et non le charger avec les droits de son lecteur",
			"una página de otro sitio solo puede enlazar a lo que se obtiene aquí, y no cargarlo con los derechos de su lector",
			"其他网站的页面只能链接到此处获取的内容，而不能以其读者的权限加载它",
		},
		{
			"a person has to open this: a page of another site may have led the browser here",
			"ein Mensch muss das öffnen: eine Seite einer anderen Website kann den Browser hierher geführt haben",
			"une personne doit ouvrir ceci : une page d’un autre site a pu mener le navigateur ici",
			"una persona tiene que abrir esto: una página de otro sitio puede haber traído el navegador aquí", "必须由人来打开它：浏览器可能是被其他网站的页面带到这里的",
		},
		{
			"browsers are sent what is fetched here by an address, localhost or a name of this server alone: the name of another site may lead here",
			"Browser bekommen, was hier abgerufen wird, nur über eine IP-Adresse, localhost oder einen Namen dieses Servers: der Name einer anderen Website kann hierher führen",
			"les navigateurs ne reçoivent ce qui est récupéré ici que par une adresse IP, localhost ou un nom de ce serveur : le nom d’un autre site peut mener ici",
			"los navegadores solo reciben lo que se obtiene aquí por una dirección IP, localhost o un nombre de este servidor: el nombre de otro sitio puede llevar aquí",
			"浏览器只能通过 IP 地址、localhost 或本服务器的名称获得此处获取的内容：其他网站的名称可能会指向这里",
		},
		{
			"a user and a password are required", "Benutzername und Passwort sind nötig", "un nom d’utilisateur et un mot de passe sont nécessaires",
			"se necesitan un usuario y una contraseña", "需要用户名和密码",
		},
		{
			"the proxy requires a user and a password", "der Proxy verlangt Benutzername und Passwort", "le proxy exige un nom d’utilisateur et un mot de passe",
			"el proxy exige un usuario y una contraseña", "代理要求用户名和密码",
		},
		{"internal error of urnd; see its log", "interner Fehler von urnd; siehe das Protokoll", "erreur interne d’urnd ; voir son journal", "error interno de urnd; véase su registro", "urnd 内部错误；请查看其日志"},
	}
}
