// Complete programs that connect, sign in and subscribe. TestSocketSamples runs them.
const javascript = ({ url, api, topic, key, secret, account }) => `// In a browser, or Node.js from 22 on.
const key = "${key}", secret = "${secret}", account = "${account}";
const socket = new WebSocket("${url}");
const send = (message) => socket.send(JSON.stringify(message));

async function signIn() {
  const timestamp = String((await (await fetch("${api}/time")).json()).data);
  const bytes = (text) => new TextEncoder().encode(text);
  const hmac = await crypto.subtle.importKey(
    "raw", bytes(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = await crypto.subtle.sign(
    "HMAC", hmac, bytes(\`key=\${key}&timestamp=\${timestamp}\`));
  const signature = [...new Uint8Array(mac)]
    .map((b) => b.toString(16).padStart(2, "0")).join("");
  send({ command: "auth", key, timestamp, signature });
}

socket.onopen = () => {
  setInterval(() => send({ command: "ping" }), 10_000);
  send({ command: "sub", params: ["${topic}"] });
  signIn();
};
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.code !== 0) console.error(message.code, message.msg);
  else if (message.event === "auth") send({ command: "sub", params: ["account." + account] });
  else if (message.event !== "pong") console.log(data);
};
socket.onclose = ({ code, reason }) => console.log("closed:", code, reason);
`;

const go = ({ url, api, topic, key, secret, account }) => `package main // go get github.com/gorilla/websocket

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/gorilla/websocket"
)

const key, secret, account = "${key}", "${secret}", "${account}"

type message struct {
	Code  int
	Event string
	Msg   string
}

// signIn returns the frame that proves the key.
func signIn() (map[string]string, error) {
	answer, err := http.Get("${api}/time")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var now struct{ Data int64 }
	if err := json.NewDecoder(answer.Body).Decode(&now); err != nil {
		return nil, err
	}
	timestamp := fmt.Sprint(now.Data)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("key=" + key + "&timestamp=" + timestamp))
	signature := hex.EncodeToString(mac.Sum(nil))
	return map[string]string{"command": "auth", "key": key, "timestamp": timestamp, "signature": signature}, nil
}

func run() error {
	c, _, err := websocket.DefaultDialer.Dial("${url}", nil)
	if err != nil {
		return err
	}
	defer c.Close()
	frames, closed := make(chan []byte), make(chan error, 1)
	go func() {
		for {
			_, data, err := c.ReadMessage()
			if err != nil {
				closed <- err
				return
			}
			frames <- data
		}
	}()
	if err := c.WriteJSON(map[string]any{"command": "sub", "params": []string{"${topic}"}}); err != nil {
		return err
	}
	auth, err := signIn()
	if err != nil {
		return err
	}
	if err := c.WriteJSON(auth); err != nil {
		return err
	}
	ping := time.NewTicker(10 * time.Second)
	defer ping.Stop()
	for {
		var next any
		select {
		case <-ping.C:
			next = map[string]string{"command": "ping"}
		case data := <-frames:
			var m message
			if err := json.Unmarshal(data, &m); err != nil {
				return err
			}
			switch {
			case m.Code != 0:
				log.Println(m.Code, m.Msg)
			case m.Event == "auth":
				next = map[string]any{"command": "sub", "params": []string{"account." + account}}
			case m.Event != "pong":
				fmt.Println(string(data))
			}
		case err := <-closed:
			return err
		}
		if next == nil {
			continue
		}
		if err := c.WriteJSON(next); err != nil {
			return err
		}
	}
}

func main() { log.Fatal(run()) }
`;

const python = ({ url, api, topic, key, secret, account }) => `# pip install websockets
import asyncio, hashlib, hmac, json, urllib.request
import websockets

KEY, SECRET, ACCOUNT = "${key}", "${secret}", "${account}"

def sign_in():
    with urllib.request.urlopen("${api}/time") as answer:
        timestamp = str(json.load(answer)["data"])
    text = f"key={KEY}&timestamp={timestamp}"
    signature = hmac.new(SECRET.encode(), text.encode(), hashlib.sha256).hexdigest()
    return {"command": "auth", "key": KEY, "timestamp": timestamp, "signature": signature}

async def main():
    async with websockets.connect("${url}") as socket:
        async def send(message):
            await socket.send(json.dumps(message))

        async def ping():
            while True:
                await asyncio.sleep(10)
                await send({"command": "ping"})

        pinging = asyncio.create_task(ping())
        await send({"command": "sub", "params": ["${topic}"]})
        await send(await asyncio.to_thread(sign_in))
        async for data in socket:
            message = json.loads(data)
            if message["code"] != 0:
                print(message["code"], message["msg"])
            elif message["event"] == "auth":
                await send({"command": "sub", "params": ["account." + ACCOUNT]})
            elif message["event"] != "pong":
                print(data, flush=True)
        pinging.cancel()

asyncio.run(main())
`;

// samples are the programs by language.
export const samples = { JavaScript: javascript, Go: go, Python: python };
