# Heliograph. `make help` says what there is; `make demo` is the place to start.
SHELL := /bin/bash
.DEFAULT_GOAL := help
CONFIGURATION ?= debug
JOBS ?= $(shell nproc)
export CONFIGURATION

.PHONY: help setup build up down status demo test test-repeat faults bench dist format demo-containers docs fuzz mutations verify-mobile-package verify-phones verify-abuse verify-api verify-clients verify-deploy verify-disclosure verify-flood verify-races verify-signin verify-slow-fcm verify-statements release screenshots verification clean clean-data

help: ## Say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

setup: ## Install what is missing: Debian packages, face models, demo photos
	@deploy/local/setup.sh

build: setup ## Build everything (CONFIGURATION=release for speed)
	@[ -d .build ] || echo "==> first build: 5 to 9 minutes on two cores"
	@swift build -c $(CONFIGURATION) -j $(JOBS)

# What `make up` and `make demo` run. `make build` builds the other tools, and what the tests use, as well.
STACK = identity-api face-matching-worker image-worker image-decoder notifier token-registry heliographctl fcm-emulator mobile-sim

up: setup ## Build what the stack needs, and start Redis, Postgres and the five services; writes .run/stack.env
	@[ -d .build ] || echo "==> first build: 4 to 16 minutes on two cores"
	@for product in $(STACK); do swift build -c $(CONFIGURATION) --product $$product -j $(JOBS) || exit 1; done
	@deploy/local/stack.sh up

down: ## Stop what `make up` started
	@deploy/local/stack.sh down

status: ## Say whether all is well: a line for each service, and what to do about what is not
	@deploy/local/stack.sh status

demo: up ## Sign up, sign in and refuse a face, make six pictures of a portrait, and show the pushes
	@deploy/local/demo.sh

screenshots: up ## Tell the demo, and take the pictures of README.md from it (installs Chromium)
	@deploy/local/screenshots.sh

format: ## Format all Swift files as .swift-format says
	@swift format --in-place --recursive --parallel Package.swift Services Shared Tools Tests

test: setup ## Run all tests; needs no server to be running
	@swift format lint --strict --recursive --parallel Package.swift Services Shared Tools Tests || { echo "make format mends this"; exit 1; }
	@deploy/local/fetch-moto.sh
	@deploy/local/fetch-schemathesis.sh
	@deploy/local/fetch-valkey.sh >/dev/null
	@[ -d .build ] || echo "==> first build: 8 to 26 minutes on two cores"
	@SECONDS=0; swift build --build-tests -j $(JOBS) && echo "==> built in $$SECONDS s"
	@rm -rf .build/test-logs && deploy/local/test.sh
	@deploy/verify/lint.sh

test-repeat: setup ## Run all tests TIMES (10) times beside two busy loops, and count which fail (MODULES="MailTests …" for some)
	@deploy/local/fetch-moto.sh
	@deploy/local/fetch-schemathesis.sh
	@deploy/local/fetch-valkey.sh >/dev/null
	@swift build --build-tests -j $(JOBS)
	@deploy/local/test-repeat.sh $(or $(TIMES),10) $(MODULES)

faults: setup ## Kill, freeze and wipe everything and rotate all keys, and show that nothing is lost (ONLY=F1,K1 for some rows, CLUSTER=1 on a Redis Cluster, VALKEY=1 on Valkey)
	@for product in heliographctl fault-worker heliograph-faults heliograph-load fcm-emulator identity-api face-matching-worker \
		image-worker image-decoder token-registry notifier; do swift build --product $$product -j $(JOBS) || exit 1; done
	@$(if $(VALKEY),REDIS_SERVER=$$(deploy/local/fetch-valkey.sh)) .build/debug/heliograph-faults --only "$(ONLY)" $(if $(CLUSTER),--cluster) --json .build/faults.jsonl

bench: ## Measure against bare hiredis, pgbench, dlib and Python peers in the same run; stdout has one JSON line a figure (PARTS="bus push", BASELINE=file)
	@$(MAKE) --no-print-directory release >&2
	@.build-release/release/heliograph-bench $(PARTS) $(if $(BASELINE),--baseline $(BASELINE))

release: setup
	@[ -d .build-release ] || echo "==> first release build: 6 to 14 minutes on two cores"
	@swift build -c release --static-swift-stdlib --scratch-path .build-release -j $(JOBS)

# What is verified is what is deployed: the tests drive the release executables.
verify-abuse verify-disclosure verify-flood verify-signin verify-slow-fcm: export TEST_EXECUTABLES = .build-release/release
verification: release
	@swift build --build-tests -j $(JOBS)

# Each test adds the lines of its table; a bar that was missed fails it.
verify-abuse: export ABUSE_REPORT = $(CURDIR)/.build/abuse.tsv
verify-abuse: verification ## Attack from ten addresses as the review in docs/THREAT-MODEL.md did, and hold what an owner notices to bars (MINUTES=2 an attack; nothing else may run)
	@printf 'attack\tthe owner notices\tcalm\tattacked\tbar\t\n' >$(ABUSE_REPORT)
	@ABUSE_MINUTES=$(or $(MINUTES),2) swift test --skip-build --filter EndToEndTests.AbuseTests; code=$$?; column -t -s $$'\t' $(ABUSE_REPORT); exit $$code

verify-races: setup ## Stop one of two racing transactions between check and commit TRIES (10000) times, at statements drawn with SEED (43): none may win
	@swift build --build-tests -j $(JOBS)
	@RACE_TRIES=$(or $(TRIES),10000) RACE_SEED=$(or $(SEED),43) swift test --skip-build --filter RaceTests.RaceTests

verify-disclosure: verification ## Compare 2,000 sign-ins and sign-ups of known and unknown e-mails and faces statistically (two hours and more; SAMPLES=200 for a look)
	@DISCLOSURE_SAMPLES=$(or $(SAMPLES),2000) swift test --skip-build --filter EndToEndTests.DisclosureTests

verify-flood: verification ## Flood identity-api with junk uploads and failing sign-ins, and time honest ones (MINUTES=10 each; nothing else may run)
	@FLOOD_MINUTES=$(or $(MINUTES),10) swift test --skip-build --filter EndToEndTests.FloodTests

verify-signin: export SIGNIN_REPORT = $(CURDIR)/.build/signin.tsv
verify-signin: verification ## Attack sign-ins with stolen photos, tokens and proofs, ATTEMPTS (200) of each, and kill services under 500 honest ones
	@printf 'attack\tattempts\tsuccesses\tanswers\n' >$(SIGNIN_REPORT)
	@SIGNIN_ATTEMPTS=$(or $(ATTEMPTS),200) swift test --skip-build --filter 'EndToEndTests.(StolenPhoto|StolenToken|KnownDevice)Tests'; code=$$?; column -t -s $$'\t' $(SIGNIN_REPORT); exit $$code

verify-slow-fcm: verification ## Have FCM answer after 1.5 s for MINUTES (20) with 100,000 pushes waiting: the notifier sends on
	@SLOW_FCM_MINUTES=$(or $(MINUTES),20) swift test --skip-build --filter 'PushTests\.SlowFCMTests'

dist: release ## Build what is deployed into dist/out, for images without a compilation (deploy/docker/prebuilt.compose.yml), with a bill of materials (CycloneDX)
	@deploy/docker/dist.sh .build-release/release

demo-containers: ## The same demo with Docker alone
	@deploy/docker/demo.sh

verify-clients: ## Generate clients for TypeScript and Kotlin from the OpenAPI document, and compile them
	@deploy/verify/clients.sh

verify-api: up ## Have Schemathesis send generated requests, and hold the answers to /openapi.json (EXAMPLES=30 of each operation; 300 are more than 20,000 requests)
	@deploy/verify/api.sh $(EXAMPLES)

mutations: ## Remove each guard of MobileClient's state machines, and expect its model to find that (PARTS="Jobs Uploads" for some; 20 s a guard)
	@deploy/verify/mutations.py $(PARTS)

docs: ## Make the documentation of MobileClient with its tutorial (DocC): .build/docs/mobile-client/site, for any web server
	@deploy/local/mobile-docs.sh .build/docs/mobile-client

verify-mobile-package: ## Build an app's package that depends on MobileClient alone, from nothing, and look at what it links
	@deploy/verify/mobile-package.sh

# The modules are those whose code connects as the role of a service.
verify-statements: setup ## Expect each statement that a service can reach among those that its tests send to Postgres as its role, as make test does at its end
	@swift build --build-tests -j $(JOBS)
	@STATEMENTS=1 deploy/local/test.sh IdentityAPITests PushTests NotifierTests FaceMatchingWorkerTests ImageWorkerTests TokenRegistryTests ErasureTests EventBusTests ServiceDefaultsTests StorageTests

verify-phones: release ## Have PHONES (1000) of mobile-sim live for MINUTES (30) while services, Redis and Postgres are killed
	@deploy/verify/phones.sh

fuzz: ## Fuzz the parsers of untrusted input with libFuzzer (FUZZ_SECONDS=60 a target, ONLY="json headers" for some)
	@deploy/verify/fuzz.sh

verify-deploy: ## Deploy in containers on this machine, try to break it, and take everything away again (DIST=ready after `make dist`: sooner)
	@deploy/verify/verify.sh

clean-data: ## Stop the stack and remove its data
	@deploy/local/stack.sh clean-data

clean: clean-data ## Remove the data and everything built
	@rm -rf .build .build-release .build-fuzz
