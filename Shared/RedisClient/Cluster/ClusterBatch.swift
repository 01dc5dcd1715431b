/// Decides which server each command of a batch goes to, and which commands are sent again after the answers.
///
/// A state machine without input or output: the caller sends the parts of each round and reports their replies.
///
/// The commands of one slot stay in their order as long as their server answers all of them alike. When a slot moves or a server
/// fails in the middle of a batch, a command that was refused is sent again after a later one that was executed.
struct ClusterBatch {
    /// The most rounds in which a command is redirected: more rounds mean that the servers contradict each other.
    static let maxRedirections = 16

    /// Commands that go to one server in one write.
    struct Part: Equatable, Sendable {
        var server: RedisAddress
        /// Whether each command needs an `ASKING` before it, because its slot is still on its way to the server.
        var isAsking: Bool
        /// The positions of the commands in the batch, in order.
        var commands: [Int]
    }

    /// What to do before the next round.
    struct Advice: Equatable, Sendable {
        /// Slots that are on another server than the map says.
        var moves: [Redirection] = []
        /// Whether the map may be out of date beyond those.
        var needsMap = false
        /// Whether the same servers would refuse the same commands at once.
        var needsPause = false
    }

    private let slots: [ClusterSlot?]
    private var outcomes: [Result<RedisReply, RedisError>?]
    /// The last refusal of each command without an outcome, its outcome when the time is up.
    private var refusals: [Result<RedisReply, RedisError>?]
    /// The servers to which commands were redirected, for the next round only.
    private var redirections: [Int: Redirection] = [:]
    private var redirectedRounds = 0
    private var advice = Advice()

    init(slots: [ClusterSlot?]) {
        self.slots = slots
        outcomes = Array(repeating: nil, count: slots.count)
        refusals = outcomes
    }

    /// The outcome of each command; nil until all have one.
    var results: [Result<RedisReply, RedisError>]? {
        let known = outcomes.compactMap { $0 }
        return known.count == outcomes.count ? known : nil
    }

    /// Begins a round: returns what to send where. Commands whose slot has no server take no part.
    mutating func parts(in map: SlotMap) -> [Part] {
        var parts: [Part] = []
        let anyServer = map.masters.randomElement()
        for command in outcomes.indices where outcomes[command] == nil {
            let redirection = redirections[command]
            guard let server = redirection?.target ?? slots[command].map({ map.master(of: $0) }) ?? anyServer else {
                refuse(command, .failure(RedisError(.connectionFailed, "no server of the cluster has the slot of the key")))
                continue
            }
            let isAsking = redirection.map { !$0.isMoved } ?? false
            if let index = parts.firstIndex(where: { $0.server == server && $0.isAsking == isAsking }) {
                parts[index].commands.append(command)
            } else {
                parts.append(Part(server: server, isAsking: isAsking, commands: [command]))
            }
        }
        redirections = [:]
        return parts
    }

    /// Records the replies to a part, one for each of its commands.
    mutating func receive(_ replies: [RedisReply], for part: Part) {
        for (command, reply) in zip(part.commands, replies) {
            guard let error = reply.error, case .server(let code) = error.code else {
                outcomes[command] = .success(reply)
                continue
            }
            if let redirection = Redirection(error, from: part.server) {
                refusals[command] = .success(reply)
                redirections[command] = redirection
                if redirection.isMoved { advice.moves.append(redirection) }
                continue
            }
            switch code {
            case .tryAgain:
                refusals[command] = .success(reply)
                advice.needsPause = true
            case .clusterDown, .loading, .masterDown:
                refuse(command, .success(reply))
            default:
                outcomes[command] = .success(reply)
            }
        }
    }

    /// Records that a part had no replies.
    mutating func fail(_ error: RedisError, for part: Part) {
        let wasNotSent = !error.mayHaveExecuted && [.connectionFailed, .connectionLost, .shutDown].contains(error.code)
        for command in part.commands {
            if wasNotSent { refuse(command, .failure(error)) } else { outcomes[command] = .failure(error) }
        }
        if error.isRetryable { advice.needsMap = true }
    }

    /// Ends a round: says what to do before the next one.
    mutating func endRound() -> Advice {
        defer { advice = Advice() }
        if !redirections.isEmpty {
            redirectedRounds += 1
            if redirectedRounds > Self.maxRedirections { giveUp() }
            advice.needsPause = advice.needsPause || redirectedRounds > 3
        }
        advice.needsMap = advice.needsMap || !advice.moves.isEmpty
        return advice
    }

    /// Gives each command that has no outcome its last refusal as such.
    mutating func giveUp() {
        for command in outcomes.indices where outcomes[command] == nil {
            outcomes[command] =
                refusals[command] ?? .failure(RedisError(.connectionFailed, "no server of the cluster was reached within the time limit"))
        }
    }

    private mutating func refuse(_ command: Int, _ refusal: Result<RedisReply, RedisError>) {
        refusals[command] = refusal
        advice.needsMap = true
        advice.needsPause = true
    }
}
