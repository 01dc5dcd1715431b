extension RedisReply {
    /// Creates the reply to a command of a pipeline to several servers, of which some answered and the command's own did not.
    init(failure: RedisError) {
        let code: RedisServerErrorCode = failure.mayHaveExecuted ? .unanswered : .unreachable
        let text = Array("\(code.rawValue) \(failure)".utf8)
        let node = ReplyTape.Node(number: 0, length: Int32(text.count), end: 1, kind: .error)
        self.init(tape: ReplyTape(nodes: [node], bytes: text), index: 0)
    }
}
