# gatewayd: the commands people need. `make help` lists them.

TAGS := netgo,osusergo,sqlite_omit_load_extension,timetzdata
COMMIT = $(shell git rev-parse HEAD 2>/dev/null)
SOURCE ?= embedded
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | expand -t 18

.PHONY: run
run: ## both chains, the gateway and the exchange on this machine, funded and empty
	@echo "Building gatewayd. The first build takes a minute or two."
	@go run ./cmd/gatewayd dev

.PHONY: demo
demo: ## a deposit and a withdrawal, step by step; SOURCE=anvil, geth, btcd or litecoin uses that node
	@case "$(SOURCE)" in anvil) scripts/npm-install.sh ;; geth | btcd) scripts/go-tool.sh $(SOURCE) ;; litecoin) scripts/litecoind.sh >/dev/null ;; esac
	go run ./cmd/gatewaydemo --source=$(SOURCE)

.PHONY: demo-exchange
demo-exchange: ## an API key, orders, pushes and a withdrawal on the exchange of a running `make run`
	go run ./cmd/gatewaydemo exchange

.PHONY: demo-custody
demo-custody: ## a thief who owns the daemon, limits, approvals, a block list, with the signer as a process; SOURCE=geth uses that node
	@case "$(SOURCE)" in anvil) scripts/npm-install.sh ;; geth) scripts/go-tool.sh geth ;; esac
	@go build -o build/demo/ ./cmd/gatewayd ./cmd/gatewaydemo
	@build/demo/gatewaydemo custody --source=$(SOURCE)

.PHONY: drill
drill: ## breaks three gateways in every way there is and repairs them by command (three minutes); ARGS="-run TestDrill//halted-account"
	@scripts/npm-install.sh
	scripts/postgres.sh go test -count=1 -v -timeout 80m ./dev/drill $(ARGS)

.PHONY: bench
bench: build build/gatewaybench ## figures of whole programs beside budget and yardstick; ARGS="--rounds 5 --only ws"
	build/gatewaybench $(ARGS)

.PHONY: benchmarks
benchmarks: ## figures of single packages beside budget and yardstick; ARGS="-benchtime 9x ./vite/dex"
	go test -run '^$$' -bench Budget -timeout 60m $(or $(ARGS),-benchtime 5x ./chain/ethereum ./dev ./exchangeapi ./exchangeapi/index ./gateway ./records ./vite/dex ./vite/node ./wallet ./watcher)

.PHONY: build
build: ## build/gatewayd, one static file
	@scripts/build.sh "$$(go env GOARCH)" "$(or $(VERSION),dev)" "$(COMMIT)" build/gatewayd

.PHONY: build/gatewaybench
build/gatewaybench:
	CGO_ENABLED=1 go build -trimpath -tags $(TAGS) -ldflags '-s -w' -o build/gatewaybench ./cmd/gatewaybench

.PHONY: test
test: ## everything: set-up, checks, all tests; PKG=./records/... narrows the tests
	@scripts/test.sh $(PKG)

.PHONY: race
race: ## all tests under the race detector
	scripts/postgres.sh go test -race -p 2 -timeout 30m ./...

.PHONY: mutate
mutate: ## removes the money rules one at a time; a test must fail each time (results in build/mutation.txt, about half an hour)
	scripts/postgres.sh go run ./scripts/mutate $(ARGS)

.PHONY: lint
lint: ## golangci-lint, dead code, known vulnerabilities
	@scripts/lint.sh

.PHONY: contracts
contracts: ## test contracts: Solidity to abi, bin and Go
	scripts/contracts.sh

.PHONY: contracts-check
contracts-check: ## fails if the committed contracts differ from their sources
	scripts/contracts.sh --check

.PHONY: pages
pages: ## the pages: web/ui to web/dist
	scripts/web.sh

.PHONY: pictures
pictures: ## README's pictures, taken of the running pages (docs/pictures)
	@scripts/npm-install.sh && scripts/browser.sh >/dev/null
	go test -count=1 -run TestNewcomerInBrowser ./cmd/gatewayd
	for name in bridge trade phone; do cp build/pictures/readme-$$name.png docs/pictures/$$name.png; done

.PHONY: site
site: ## the documents as a site: build/site, with every link checked
	@scripts/site.sh

.PHONY: image
image: ## container image (needs a Docker engine)
	docker build --build-arg VERSION=$(or $(VERSION),dev) --build-arg COMMIT=$(COMMIT) -t gatewayd:$(or $(VERSION),dev) .

.PHONY: release
release: ## binaries, Debian packages, container image, bills of materials into build/release; VERSION=v0.9.0
	@scripts/release.sh "$(or $(VERSION),dev)"

.PHONY: release-test
release-test: ## installs and runs what `make release` made, in a Debian root of its own (as root, half an hour)
	@scripts/release-test.sh

.PHONY: clean
clean: ## removes what builds and installs have left in build/
	rm -rf build
