package shop;

import jakarta.persistence.*;
import java.math.BigDecimal;
import java.time.*;
import java.util.*;

// Customers and purchases are made by the change log, notes by Hibernate.

@Entity
class Customer {
    @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
    @Column(nullable = false, length = 100) String name;
    @Column(unique = true, length = 200) String email;
    OffsetDateTime createdAt;
    Boolean active;
}

@Entity
class Purchase {
    @Id UUID id;
    @ManyToOne(optional = false) Customer customer;
    @Column(precision = 12, scale = 2) BigDecimal amount;
    @Column(columnDefinition = "text") String note;
    @Version Integer version;
}

enum Kind { SHORT, LONG }

@Entity
@Table(indexes = @Index(name = "ix_note_title", columnList = "title"))
class Note {
    @Id @GeneratedValue Long id;
    String title;
    @Enumerated(EnumType.STRING) Kind kind;
    @ElementCollection List<String> tags;
    LocalDate day;
    Double ratio;
}
