extension RedisReply {
    /// Creates the reply to a command of a pipeline to several servers, when the command's own server did not answer and others did.
    init(failure: RedisError) {
        let code: RedisServerErrorCode = failure.mayHaveExecuted ? .unanswered : .unreachable
        let text = Array("\(code.rawValue) \(failure)".utf8)
        let node = ReplyTape.Node(.error, number: 0, length: text.count, end: 1)
        self.init(tape: ReplyTape(nodes: FrozenBuffer([node]), bytes: FrozenBuffer(text)), index: 0)
    }
}
