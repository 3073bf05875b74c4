# run, test and bench need Go and nothing else; test also uses redis-server where
# it is installed. check fetches staticcheck, and its race detector needs a C
# compiler.
GO ?= go
OUT ?= out

# lint vets, and a linker that writes nothing for debuggers is faster. So are tests that
# collect their garbage less often, up to a limit (there is much, beside little that lives),
# and that keep no profile of their memory, which has a place for each way through the code.
TEST = GOGC=600 GOMEMLIMIT=3GiB GODEBUG=memprofilerate=0 $(GO) test -vet=off -ldflags=-w

# A test that the race detector need not see says so itself: effort.Unwatched. The client of ZooKeeper has a data
# race of its own (go-zookeeper/zk, pull request 35); what locks do with it is watched.
RACE = -race -gcflags=github.com/go-zookeeper/zk=-race=false

# Tests leave out the largest searches unless this is set, as hunt does.
EXHAUSTIVE = LOCKLAB_EXHAUSTIVE=1

.PHONY: help run charts page programs verify live second-opinion test libraries newest dense hunt bare mutants-locks mutants-search mutants-lab check lint race fuzz vuln bench rename update
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# What make says, in the reader's language.
ZH = $(findstring zh,$(LC_ALL)$(LC_MESSAGES)$(LANG))
COMPILES = Compiling locklab. This takes one to three minutes the first time, and a few seconds again.
COMPILESzh = 正在编译 locklab：第一次要一到三分钟，以后几秒钟。
DRAWS = Playing these six locks in every race, and drawing. This takes about ten seconds.
DRAWSzh = 让这六把锁跑遍所有竞争场景并画图，大约十秒。
DREW = Open $(OUT)/report.html; the pictures beside it: grid, poster (every race), recovery, sweep, run.
DREWzh = 请打开 $(OUT)/report.html；旁边的图：grid（总表）、poster（全部竞争场景）、recovery、sweep、run。
NEXT = "go install ./cmd/locklab" installs locklab; until then write $(OUT)/locklab, as in "$(OUT)/locklab run redlock gc-pause".
NEXTzh = 用 "go install ./cmd/locklab" 安装 locklab；没安装时写 $(OUT)/locklab，例如 "$(OUT)/locklab run redlock gc-pause"。

# What the first command shows: small enough to be there in seconds.
SIX = setnx,setnx-expire,getset,token,watchdog,redlock

run: ## the tour, then six locks as grid, charts and report (into out/): 20 seconds once it is compiled
	@echo '$(COMPILES$(ZH))'
	@$(GO) build -o $(OUT)/locklab ./cmd/locklab
	@$(OUT)/locklab demo
	@echo '$(DRAWS$(ZH))'
	@$(OUT)/locklab matrix --locks $(SIX) -o $(OUT) >/dev/null
	@$(OUT)/locklab run redlock gc-pause -o $(OUT)/run.svg -o $(OUT)/run.png >/dev/null
	@echo '$(DREW$(ZH))'
	@echo '$(NEXT$(ZH))'

charts: ## every lock in every race, all charts and the whole report (into out/): a minute or two
	@$(GO) build -o $(OUT)/locklab ./cmd/locklab
	@echo "Playing every lock in every race, proving and searching. This takes about a minute and a half on two cores."
	@$(OUT)/locklab matrix --all -o $(OUT) >/dev/null
	@echo "Open $(OUT)/report.html; beside it: grid, poster (all locks), rate, tolerance, par, recovery, waiting, sweep, and the table of theorems."

page: ## the page on which one breaks locks (into out/page/): one file, and a folder to host
	@echo "Compiling the page's engine for the browser. This takes minutes the first time."
	$(GO) run ./cmd/page $(OUT)/page
	@echo "Open $(OUT)/page/locklab.html, or host $(OUT)/page/site: with its address as LOCKLAB_PAGE the program names its pages."

SYSTEMS = linux-amd64 linux-arm64 darwin-amd64 darwin-arm64 windows-amd64
programs: ## the program for five systems (into out/programs/)
	@for s in $(SYSTEMS); do echo $$s; GOOS=$${s%-*} GOARCH=$${s#*-} CGO_ENABLED=0 $(GO) build -trimpath -ldflags="-s -w" -o $(OUT)/programs/locklab-$$s$$(GOOS=$${s%-*} $(GO) env GOEXE) ./cmd/locklab || exit 1; done

verify: ## prove the contract in both directions
	$(GO) run ./cmd/locklab verify

ROUNDS ?= 1
live: ## every cell, and the shortest way to each failure, on real servers, ROUNDS=1 times; needs redis-server, cc, zookeeper, mariadb-server and postgresql
	$(GO) run -ldflags=-w ./cmd/locklab live matrix --lease 300ms --rounds $(ROUNDS)
	$(GO) run -ldflags=-w ./cmd/locklab live verify --lease 300ms --rounds $(ROUNDS)

second-opinion: ## what SPIN says of the six milestones, and of locks on ZooKeeper; needs spin and cc
	$(TEST) -count=1 -timeout 30m -v -run '^TestSecondOpinion$$' ./simulator/promela -ask

test: ## the tests; make hunt has the large searches
	$(TEST) -timeout 30m ./...

libraries: ## search the locks of libraries, and the template of a test of your own lock
	cd scenarios/locktest/libraries && $(GO) vet ./... && $(GO) test -count=1 -timeout 30m ./... -locklab.apart=20 -locklab.time=0
	cd scenarios/locktest/template && $(GO) vet . && $(GO) test -count=1 .

GOREDIS = github.com/redis/go-redis/v9
newest: ## what touches go-redis, with the newest of its versions, as a push is checked; needs redis-server and zookeeper
	@mod=$$(mktemp -d) && trap 'rm -rf "$$mod"' EXIT && cp go.mod "$$mod/go.mod" && cp go.sum "$$mod/go.sum" && \
	version=$$($(GO) list -m -versions $(GOREDIS) | tr ' ' '\n' | grep -E '^v[0-9.]+$$' | tail -1) && echo "$(GOREDIS) $$version" && \
	$(GO) get -modfile="$$mod/go.mod" $(GOREDIS)@$$version && \
	CI=true $(TEST) -modfile="$$mod/go.mod" -mod=mod ./algorithms/... ./simulator/redisnode ./simulator/live ./scenarios/locktest

RUNS ?= 1000000
SEED ?= 1
dense: ## RUNS=1000000 random runs in dense time, from SEED=1, against proofs; twenty minutes of one core
	cd scenarios/internal/dense && GOMAXPROCS=1 $(TEST) -count=1 -timeout 60m -v -run '^TestDense$$' -runs $(RUNS) -seed $(SEED)

hunt: ## what a push need not check again: all searches, RUNS=1000000 random runs in dense time, sixty mutants of locks at random, three rounds on real servers, SPIN, libraries, programs for other systems, fuzz targets, and a machine with only Go; an hour on two cores
	LOCKLAB_HUNT=1 $(EXHAUSTIVE) $(TEST) -p=3 -count=1 -timeout 60m ./...
	$(MAKE) -j2 --output-sync=target live dense second-opinion ROUNDS=3
	$(MAKE) libraries
	$(MAKE) newest
	$(MAKE) programs
	env -u GOGC -u GOMEMLIMIT $(MAKE) fuzz JOBS=8 TIME=20s
	$(MAKE) bare

# The tests that need a server or Java are skipped, and none fails.
bare: ## tests on a machine that has only Go and a C compiler
	@only=$$(mktemp -d) && trap 'rm -rf "$$only"' EXIT && for tool in go gcc sh rm mktemp; do ln -s "$$(command -v $$tool)" "$$only/"; done && \
	env -u CI $(EXHAUSTIVE) PATH="$$only" $(GO) test -vet=off -ldflags=-w ./simulator/redisnode ./simulator/zookeeper ./simulator/live ./scenarios/reality ./algorithms/redis ./algorithms/zookeeper && \
	env -u CI $(EXHAUSTIVE) PATH="$$only" $(GO) test -vet=off -ldflags=-w -run 'Real|Live|Browser|Node' ./scenarios/locktest ./cmd/locklab ./cmd/page

mutants-locks: ## spoil the locks, in fifty ways and then at random from SEED=1: what search and runs find, and the score; an hour
	$(EXHAUSTIVE) $(GO) test -count=1 -run '^TestMutants$$' -v ./scenarios/search
	$(EXHAUSTIVE) $(GO) test -count=1 -timeout 2h -v -run 'TestAttack|TestEachProofCanBeBroken|TestRunnerMeets' ./scenarios/internal/dense -made 200 -seed $(SEED) -all

mutants-search: ## spoil the prover, which takes many states for one: what its views notice; minutes
	LOCKLAB_HUNT=1 $(TEST) -count=1 -run '^TestViewsUnsound$$' -v ./simulator/explore

mutants-lab: ## spoil conditions of judges, servers, faults, contract and shares: what their own tests notice
	$(EXHAUSTIVE) $(TEST) -count=1 -run '^TestPlanted$$' -v ./simulator/effort

check: lint test live race ## what CI runs

lint: ## format, modules, vet, staticcheck, workflows
	@test -z "$$(gofmt -l .)" || { echo "gofmt these files:"; gofmt -l .; exit 1; }
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) run github.com/rhysd/actionlint/cmd/actionlint@v1.7.9
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

# The packages that start goroutines of their own.
RACED = ./algorithms/lock ./algorithms/redis ./simulator ./simulator/process ./simulator/explore ./simulator/live ./simulator/realserver/... \
	./scenarios/cost ./scenarios/share ./scenarios/search ./scenarios/study ./scenarios/locktest ./scenarios/reality ./cmd/locklab
race: ## the tests of packages with goroutines under the race detector
	$(TEST) $(RACE) -timeout 30m $(RACED)

TIME ?= 30s
JOBS ?= 2
# Small inputs are no aim: what goroutines cover differs from run to run, so that each
# input seems to cover more than a smaller one, and all the time would go into that.
# Go before 1.27 may fail a target at its end, without an input that fails, with the bare
# words below (go.dev/issue/75804). That is no finding.
# Only our own code is watched: go test -fuzz would compile the standard library so as well,
# and each target would count through all of its counters after every input. And go test
# -fuzz takes one package, which would be linked once for each of its targets. Files of
# targets are in memory where that is a folder: a disk would be waited for.
fuzz: ## every fuzz target for TIME=30s, JOBS=2 at a time
	@bin=$$(mktemp -d) && trap 'rm -rf "$$bin"' EXIT && cache=$$($(GO) env GOCACHE)/fuzz/locklab && \
	if test -w /dev/shm; then export FILES=/dev/shm; else export FILES="$${TMPDIR:-/tmp}"; fi && \
	$(GO) test -c -ldflags=-w -gcflags="$$($(GO) list -m)/...=-d=libfuzzer -dwarf=false" -o "$$bin/" $$(grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n 1 dirname | sort -u) && \
	grep -rEo '^func Fuzz[A-Za-z]+' --include='*_test.go' . | sed -E 's|/[^/]*:func | |' | xargs -P $(JOBS) -L 1 sh -c ' \
	  cd "$$2" && out=$$(TMPDIR="$$FILES" "$$0/$$(basename "$$2").test" -test.run "^$$" -test.fuzz "^$$3\$$" -test.fuzzcachedir "$$1/$$2" -test.fuzztime $(TIME) -test.fuzzminimizetime 50x -test.parallel 1 2>&1 </dev/null) || \
	  test "$$(echo "$$out" | grep -A 1 "^--- FAIL: " | tail -n +2)" = "    context deadline exceeded" || { echo "$$2 $$3: $$out"; exit 255; }; \
	  echo "$$2 $$3: $$(echo "$$out" | grep -o "execs: [0-9]*" | tail -1)"' "$$bin" "$$cache"

vuln: ## known vulnerabilities in code that is reached; needs vuln.go.dev
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./... || { \
	  echo "make vuln: nothing is known without the findings above, or without https://vuln.go.dev" >&2; exit 1; }

bench: ## what users wait for, states a second beside SPIN's, what each mechanism of a search buys, and every default search; an hour on two cores
	$(GO) test -timeout 4h -run '^$$' -bench . -benchtime 1x ./cmd/locklab ./simulator/promela ./scenarios/search

MODULE ?=
# The path of the module stands in imports, comments about them, and the three go.mod; programs read it from what they were built of.
OURS = (algorithms|cmd|faults|reports|scenarios|simulator)
rename: ## give the module another path, everywhere: MODULE=github.com/you/locklab
	@test -n "$(MODULE)" || { echo "say which: make rename MODULE=github.com/you/locklab" >&2; exit 2; }
	@old=$$($(GO) list -m) && \
	grep -rlE "\b$$old/$(OURS)" --include='*.go' . | xargs sed -i.old -E "s#(^|[^A-Za-z0-9_./-])$$old/$(OURS)\b#\1$(MODULE)/\2#g" && \
	find . -name go.mod | xargs sed -i.old -E "s#^((module|replace)?[[:space:]])$$old([/[:space:]]|\$$)#\1$(MODULE)\3#"
	@find . -name '*.go.old' -o -name go.mod.old | xargs rm
	@gofmt -w .

update: ## write the golden files anew; read the diff before you commit it
	$(EXHAUSTIVE) $(GO) test ./reports/... ./scenarios ./scenarios/contract ./scenarios/search ./cmd/... ./algorithms/redis -update
